package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.MemberId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AlarmTest {

    private static final MemberId REPORTER = new MemberId(5);

    /** protobuf-go prints one blank or two, as the hash of the program has it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "memberID:10501334649042878790 alarm:NOSPACE ",
                "memberID:10501334649042878790  alarm:NOSPACE",
                " memberID: 10501334649042878790\n  alarm: NOSPACE\n"
            })
    void hasAnyBlanksBetweenItsFields(String error) {
        assertThat(Alarm.of(error, REPORTER)).contains(new Alarm("NOSPACE", new MemberId(0x91bc3c398fb3c146L)));
    }

    /** etcd 3.5 never names the corrupt member, later versions not without a majority; protobuf omits zeros. */
    @ParameterizedTest
    @ValueSource(strings = {"alarm:CORRUPT ", "alarm:CORRUPT", " alarm: CORRUPT\n"})
    void anAlarmWithoutAMemberIsOfMemberZero(String error) {
        assertThat(Alarm.of(error, REPORTER)).contains(new Alarm("CORRUPT", new MemberId(0)));
    }

    @Test
    void anErrorThatIsNotRecognizedIsAnAlarmOfItsReporter() {
        assertThat(Alarm.of("storage is on fire", REPORTER)).contains(new Alarm("storage is on fire", REPORTER));
    }

    @Test
    void aMissingLeaderIsNone() {
        assertThat(Alarm.of("etcdserver: no leader", REPORTER)).isEmpty();
    }
}
