package io.understudy.gateway.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.etcd.jetcd.api.MemberListResponse;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Status;
import io.understudy.etcd.ClusterView;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.States;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class MemberAnswersTest {

    private static final ClusterView NOTHING = new ClusterView(null, List.of(), null, List.of(), List.of(), List.of());
    private static final ClusterView LED =
            new ClusterView(States.CLUSTER, List.of(), new MemberId(9), List.of(), List.of(), List.of());
    private static final ClusterView LEADERLESS =
            new ClusterView(States.CLUSTER, List.of(), null, List.of(), List.of(), List.of());

    @Test
    void statusIsThatOfALearnerWhichHoldsTheReplica() throws ApiException {
        ReplicaState state = States.of(KeyRange.all(), 7, List.of(States.entry("key", "value", 5, 6, 2)));
        StatusResponse status = answers(MemberSettings.DEFAULTS, state, LED).status();
        assertThat(status.getHeader().getClusterId()).isEqualTo(States.CLUSTER.value());
        assertThat(status.getHeader().getMemberId()).isEqualTo(1);
        assertThat(status.getHeader().getRevision()).isEqualTo(7);
        assertThat(status.getVersion()).isEqualTo("3.5.0+understudy");
        assertThat(status.getDbSize()).isEqualTo(state.bytes()).isPositive();
        assertThat(status.getLeader()).isEqualTo(9);
        assertThat(status.getRaftTerm()).isEqualTo(3);
        assertThat(status.getIsLearner()).isTrue();
        assertThat(status.getErrorsList()).isEmpty();
    }

    @Test
    void statusNamesWhatIsMissing() throws ApiException {
        StatusResponse status =
                answers(MemberSettings.DEFAULTS, null, LEADERLESS, 8).status();
        assertThat(status.getErrorsList()).containsExactly("etcdserver: no leader");
        assertThat(status.getHeader().getRevision()).isEqualTo(8);
    }

    @Test
    void statusFailsAsLongAsNoRevisionIsKnown() {
        for (ClusterView source : List.of(NOTHING, LEADERLESS, LED)) {
            assertThatExceptionOfType(ApiException.class)
                    .isThrownBy(() ->
                            answers(MemberSettings.DEFAULTS, null, source, 0).status())
                    .extracting(ApiException::code)
                    .isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void gatewaysAreThisOneAndTheNamedOnesEachByItsId() throws ApiException {
        MemberSettings settings = new MemberSettings(
                MembersShown.GATEWAYS,
                List.of(URI.create("http://a:2379")),
                Map.of("bb", List.of(URI.create("http://b:2379"))));
        MemberListResponse list = answers(settings, null, LED).gateways();
        assertThat(list.getMembersList())
                .extracting(member -> member.getName() + " " + member.getID() + " " + member.getClientURLsList() + " "
                        + member.getIsLearner())
                .containsExactly("a 1 [http://a:2379] true", "bb 2 [http://b:2379] true");
    }

    @Test
    void combinationsThatCannotWorkAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemberSettings(MembersShown.GATEWAYS, List.of(), Map.of()))
                .withMessageContaining("advertise");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemberSettings(
                        MembersShown.SOURCE, List.of(), Map.of("b", List.of(URI.create("http://b:2379")))))
                .withMessageContaining("members is source");
    }

    private static MemberAnswers answers(MemberSettings settings, @Nullable ReplicaState state, ClusterView source) {
        return answers(settings, state, source, 8);
    }

    /** Ids are the lengths of names. */
    private static MemberAnswers answers(
            MemberSettings settings, @Nullable ReplicaState state, ClusterView source, long revision) {
        return new MemberAnswers(
                "a",
                "3.5.0+understudy",
                settings,
                () -> state,
                source::clusterId,
                source::leaderId,
                () -> revision,
                new ResponseHeaders(new MemberId(1), () -> 3),
                name -> new MemberId(name.length()));
    }
}
