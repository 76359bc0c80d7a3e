package io.understudy.gateway.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.MemberListResponse;
import io.etcd.jetcd.api.StatusResponse;
import io.grpc.Status;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.StorageStatus;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.States;
import io.understudy.gateway.member.MemberSettings.MembersShown;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MemberAnswersTest {

    private static final ClusterView NOTHING =
            new ClusterView(null, List.of(), null, List.of(), List.of(), List.of(), null);
    private static final ClusterView LED =
            new ClusterView(States.CLUSTER, List.of(), new MemberId(9), List.of(), List.of(), List.of(), null);
    private static final ClusterView LEADERLESS =
            new ClusterView(States.CLUSTER, List.of(), null, List.of(), List.of(), List.of(), null);

    @Test
    void statusIsThatOfALearnerWhichHoldsTheReplica() throws ApiException {
        ReplicaState state = States.of(KeyRange.all(), 7, List.of(States.entry("key", "value", 5, 6, 2)));
        StatusResponse status = answers(MemberSettings.DEFAULTS, state, LED).status(0);
        assertThat(status.getHeader().getClusterId()).isEqualTo(States.CLUSTER.value());
        assertThat(status.getHeader().getMemberId()).isEqualTo(1);
        assertThat(status.getHeader().getRevision()).isEqualTo(7);
        assertThat(status.getVersion()).isEqualTo("3.6.16+understudy");
        assertThat(status.getDbSize()).isEqualTo(state.bytes()).isPositive();
        assertThat(status.getLeader()).isEqualTo(9);
        assertThat(status.getRaftTerm()).isEqualTo(3);
        assertThat(status.getIsLearner()).isTrue();
        assertThat(status.getErrorsList()).isEmpty();
    }

    /** Such as that of the client's last write, which the replica may not have yet. */
    @Test
    void noAnswerHasALowerRevisionThanTheClientHasSeen() throws ApiException {
        MemberAnswers answers = answers(MemberSettings.DEFAULTS, States.of(KeyRange.all(), 7, List.of()), LED);
        assertThat(answers.status(9).getHeader().getRevision()).isEqualTo(9);
        assertThat(answers.gateways(9).getHeader().getRevision()).isEqualTo(9);
        assertThat(answers.gateways(6).getHeader().getRevision()).isEqualTo(7);
    }

    @Test
    void statusNamesWhatIsMissing() throws ApiException {
        StatusResponse status =
                answers(MemberSettings.DEFAULTS, null, LEADERLESS, 8).status(0);
        assertThat(status.getErrorsList()).containsExactly("etcdserver: no leader");
        assertThat(status.getHeader().getRevision()).isEqualTo(8);
    }

    @Test
    void statusFailsAsLongAsNoRevisionIsKnown() {
        for (ClusterView source : List.of(NOTHING, LEADERLESS, LED)) {
            assertThatExceptionOfType(ApiException.class)
                    .isThrownBy(() ->
                            answers(MemberSettings.DEFAULTS, null, source, 0).status(0))
                    .extracting(ApiException::code)
                    .isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void databaseAndAlarmsAreThoseOfTheSource() throws Exception {
        // As etcd 3.6 encodes storageVersion 3.6.0, dbSizeQuota 2048 and a downgrade to 3.5.0.
        StatusResponse member = StatusResponse.parseFrom(StatusResponse.newBuilder()
                .setDbSize(1024)
                .setDbSizeInUse(512)
                .addErrors("etcdserver: no leader")
                .addErrors("memberID:1 alarm:NOSPACE ")
                .build()
                .toByteString()
                .concat(ByteString.copyFrom(HexFormat.of().parseHex("5a05332e362e306080106a0908011205332e352e30"))));
        ClusterView led =
                new ClusterView(States.CLUSTER, List.of(), new MemberId(9), List.of(), List.of(), List.of(), member);
        MemberAnswers answers = answers(MemberSettings.DEFAULTS, null, led);
        StatusResponse status = answers.status(0);
        assertThat(status.getDbSize()).isEqualTo(1024);
        assertThat(status.getDbSizeInUse()).isEqualTo(512);
        assertThat(status.getErrorsList()).containsExactly("memberID:1 alarm:NOSPACE ");
        assertThat(StorageStatus.of(status)).isEqualTo(new StorageStatus("3.6.0", "3.5.0"));
        assertThat(status.getUnknownFields().getField(12).getVarintList()).containsExactly(2048L);
        assertThat(answers.versions())
                .containsExactly(
                        entry("etcdserver", "3.6.16"),
                        entry("etcdcluster", "3.5.0"),
                        entry("storage", "3.6.0"),
                        entry("understudy", "0.1.0"));
    }

    /** Until the source has updated its database after an upgrade. */
    @ParameterizedTest
    @CsvSource({"3.5.33,", "3.6.16,unknown"})
    void aMissingStorageVersionIsReportedAsByEtcd(String version, @Nullable String storage) {
        ClusterView led = new ClusterView(
                States.CLUSTER,
                List.of(),
                new MemberId(9),
                List.of(),
                List.of(),
                List.of(),
                StatusResponse.getDefaultInstance());
        assertThat(answers(MemberSettings.DEFAULTS, null, led, EtcdVersion.parse(version))
                        .versions()
                        .get("storage"))
                .isEqualTo(storage);
    }

    @Test
    void nothingIsReportedInPlaceOfAnUnknownVersion() {
        MemberAnswers answers = answers(MemberSettings.DEFAULTS, null, LED, EtcdVersion.UNKNOWN);
        assertThatExceptionOfType(ApiException.class)
                .isThrownBy(() -> answers.status(0))
                .satisfies(why -> assertThat(why.code()).isEqualTo(Status.Code.UNAVAILABLE));
        assertThat(answers.versions()).isEmpty();
    }

    /** clientv3 keeps the endpoints of members that are no learners only. */
    @Test
    void gatewaysAreThisOneAndTheNamedOnesEachByItsId() throws ApiException {
        MemberSettings settings = new MemberSettings(
                MembersShown.GATEWAYS,
                List.of(URI.create("http://a:2379")),
                Map.of("bb", new MemberSettings.Gateway(List.of(URI.create("http://b:2379")))));
        MemberListResponse list = answers(settings, null, LED).gateways(0);
        assertThat(list.getMembersList())
                .extracting(member -> member.getName() + " " + member.getID() + " " + member.getClientURLsList() + " "
                        + member.getIsLearner())
                .containsExactly("a 1 [http://a:2379] false", "bb 2 [http://b:2379] false");
    }

    @Test
    void combinationsThatCannotWorkAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemberSettings(MembersShown.GATEWAYS, List.of(), Map.of()))
                .withMessageContaining("advertise");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MemberSettings(
                        MembersShown.SOURCE,
                        List.of(),
                        Map.of("b", new MemberSettings.Gateway(List.of(URI.create("http://b:2379"))))))
                .withMessageContaining("members is source");
    }

    private static MemberAnswers answers(MemberSettings settings, @Nullable ReplicaState state, ClusterView source) {
        return answers(settings, state, source, 8, EtcdVersion.parse("3.6.16"));
    }

    private static MemberAnswers answers(
            MemberSettings settings, @Nullable ReplicaState state, ClusterView source, long revision) {
        return answers(settings, state, source, revision, EtcdVersion.parse("3.6.16"));
    }

    private static MemberAnswers answers(
            MemberSettings settings, @Nullable ReplicaState state, ClusterView source, EtcdVersion version) {
        return answers(settings, state, source, 8, version);
    }

    /** Ids are the lengths of names. */
    private static MemberAnswers answers(
            MemberSettings settings,
            @Nullable ReplicaState state,
            ClusterView source,
            long revision,
            EtcdVersion version) {
        return new MemberAnswers(
                "a",
                "0.1.0",
                () -> version,
                settings,
                () -> state,
                source::clusterId,
                source::leaderId,
                () -> revision,
                source::status,
                new ResponseHeaders(new MemberId(1), () -> 3),
                name -> new MemberId(name.length()));
    }
}
