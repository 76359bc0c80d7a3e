package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.MemberLook.MemberPages;
import io.understudy.vocabulary.MemberId;
import org.junit.jupiter.api.Test;

final class MemberPagesTest {

    private static final String METRICS = """
            # HELP etcd_server_id Server or member ID in hexadecimal format. 1 for 'server_id' label with current ID.
            # TYPE etcd_server_id gauge
            etcd_server_id{server_id="a767fdcec8889ce3"} 1
            etcd_server_is_learner 1
            etcd_server_is_leader 0
            etcd_server_has_leader 1
            """;

    private final MemberPages learner = new MemberPages("{\"etcdserver\":\"3.5.30\"}", METRICS);

    @Test
    void pagesIdentifyTheRoleOfAMember() {
        assertThat(learner.isLearner()).isTrue();
        assertThat(learner.isLeader()).isFalse();
        assertThat(learner.hasLeader()).isTrue();
        assertThat(learner.version()).isEqualTo(EtcdVersion.parse("3.5.30"));
    }

    @Test
    void pagesDistinguishAGatewayFromAMember() {
        String page = "{\"etcdserver\":\"3.5.0\",\"etcdcluster\":\"3.5.0\",\"understudy\":\"0.1.0\"}";
        assertThat(new MemberPages(page, "").version().isUnderstudy()).isTrue();
        assertThat(learner.version().isUnderstudy()).isFalse();
    }

    /** An address may lead to several, and the read before to another. */
    @Test
    void pagesNameTheirMember() {
        assertThat(learner.mayBeOf(new MemberId(0xa767fdcec8889ce3L))).isTrue();
        assertThat(learner.mayBeOf(new MemberId(0xa9b68787ec723bd3L))).isFalse();
        assertThat(new MemberPages("", "").mayBeOf(new MemberId(1))).isTrue();
    }
}
