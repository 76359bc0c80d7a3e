package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.MemberId;
import org.junit.jupiter.api.Test;

final class AlarmTest {

    @Test
    void isWhatAMemberTellsAsGoPrintsIt() {
        assertThat(Alarm.of("memberID:10501334649042878790 alarm:NOSPACE "))
                .contains(new Alarm("NOSPACE", new MemberId(0x91bc3c398fb3c146L)));
    }

    @Test
    void otherErrorsAreNone() {
        assertThat(Alarm.of("etcdserver: no leader")).isEmpty();
    }
}
