package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** What is refused, in etcd's order and words, and the parts of answers that are easily got wrong. */
final class RangeReaderTest {

    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});
    private static final ReplicaState STATE = States.of(
            KeyRange.all(),
            20,
            List.of(
                    States.entry("a", "3", 2, 12, 2),
                    States.entry("b", "2", 3, 11, 5),
                    States.entry("c", "1", 4, 4, 1)));

    private final RangeReader reader = new RangeReader(() -> STATE, new ResponseHeaders(new MemberId(0xee), () -> 9));

    @Test
    void theHeaderIsTheSourcesButForTheMemberId() throws ApiException {
        var header = range("a", request -> request).getHeader();
        assertThat(header.getClusterId()).isEqualTo(0xc1);
        assertThat(header.getMemberId()).isEqualTo(0xee);
        assertThat(header.getRevision()).isEqualTo(20);
        assertThat(header.getRaftTerm()).isEqualTo(9);
    }

    @Test
    void anEmptyKeyIsRefusedFirst() {
        ApiException refusal =
                refusal(request -> request.setKey(ByteString.EMPTY).setSerializable(false));
        assertThat(refusal.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refusal.text()).isEqualTo("etcdserver: key is not provided");
    }

    @Test
    void linearizableRangesAreNotServed() {
        ApiException refusal = refusal(request -> request.setSerializable(false));
        assertThat(refusal.code()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(refusal.text()).contains("serializable");
    }

    @Test
    void anUnknownSortTargetIsRefusedAsFrom36On() {
        ApiException refusal = refusal(request -> request.setSortTargetValue(7));
        assertThat(refusal.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refusal.text()).isEqualTo("etcdserver: invalid sort option");
    }

    @Test
    void aFutureRevisionIsRefusedAsByEtcd() {
        ApiException refusal = refusal(request -> request.setRevision(21));
        assertThat(refusal.code()).isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(refusal.text()).isEqualTo("etcdserver: mvcc: required revision is a future revision");
    }

    @Test
    void aPastRevisionIsNotServedRatherThanAnsweredWrongly() {
        assertThat(refusal(request -> request.setRevision(19)).code()).isEqualTo(Status.Code.UNIMPLEMENTED);
    }

    @Test
    void theCurrentRevisionAndANegativeOneAreTheLatest() throws ApiException {
        assertThat(range("a", request -> request.setRevision(20)).getCount()).isEqualTo(1);
        assertThat(range("a", request -> request.setRevision(-5)).getCount()).isEqualTo(1);
    }

    @Test
    void beforeTheFirstSnapshotClientsAreSentElsewhere() {
        RangeReader unready = new RangeReader(() -> null, new ResponseHeaders(new MemberId(1), () -> 0));
        ApiException refusal = catchThrowableOfType(
                ApiException.class,
                () -> unready.range(RangeRequest.newBuilder()
                        .setKey(ZERO)
                        .setSerializable(true)
                        .build()));
        assertThat(refusal.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(refusal.text()).startsWith("etcdserver: ");
    }

    @Test
    void keysOutsideTheReplicatedRangeAreRefusedRatherThanMissing() throws ApiException {
        ReplicaState part = States.of(KeyRange.prefix(ByteString.copyFromUtf8("b")), 20, List.of());
        RangeReader partial = new RangeReader(() -> part, new ResponseHeaders(new MemberId(1), () -> 0));
        RangeRequest outside = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("a"))
                .setSerializable(true)
                .build();
        ApiException refusal = catchThrowableOfType(ApiException.class, () -> partial.range(outside));
        assertThat(refusal.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(refusal.text()).contains("from 'b' to before 'c'");
        RangeRequest inside =
                outside.toBuilder().setKey(ByteString.copyFromUtf8("bb")).build();
        assertThat(partial.range(inside).count()).isZero();
    }

    @Test
    void anEndBeforeTheKeyFindsNothing() throws ApiException {
        RangeResponse response = range("b", request -> request.setRangeEnd(ByteString.copyFromUtf8("a")));
        assertThat(response.getCount()).isZero();
        assertThat(response.getKvsCount()).isZero();
        assertThat(response.getHeader().getRevision()).isEqualTo(20);
    }

    @Test
    void theCountIgnoresTheLimitAndMoreTellsOfIt() throws ApiException {
        RangeResponse cut = range("a", request -> request.setRangeEnd(ZERO).setLimit(2));
        assertThat(keys(cut)).containsExactly("a", "b");
        assertThat(cut.getCount()).isEqualTo(3);
        assertThat(cut.getMore()).isTrue();
        RangeResponse exact = range("a", request -> request.setRangeEnd(ZERO).setLimit(3));
        assertThat(exact.getMore()).isFalse();
    }

    @Test
    void filtersDoNotTouchTheCount() throws ApiException {
        RangeResponse response = range("a", request -> request.setRangeEnd(ZERO).setMinModRevision(11));
        assertThat(keys(response)).containsExactly("a", "b");
        assertThat(response.getCount()).isEqualTo(3);
        assertThat(response.getMore()).isFalse();
    }

    @Test
    void sortsBeforeItCuts() throws ApiException {
        RangeResponse response = range("a", request -> request.setRangeEnd(ZERO)
                .setSortTarget(SortTarget.VALUE)
                .setSortOrder(SortOrder.ASCEND)
                .setLimit(1));
        assertThat(keys(response)).containsExactly("c");
        assertThat(response.getMore()).isTrue();
    }

    @Test
    void countOnlyAndKeysOnlyLeaveOutWhatTheyName() throws ApiException {
        RangeResponse count = range(
                "a", request -> request.setRangeEnd(ZERO).setCountOnly(true).setLimit(1));
        assertThat(count.getKvsCount()).isZero();
        assertThat(count.getCount()).isEqualTo(3);
        assertThat(count.getMore()).isFalse();
        RangeResponse keys = range("a", request -> request.setKeysOnly(true));
        assertThat(keys.getKvs(0).getValue().isEmpty()).isTrue();
        assertThat(keys.getKvs(0).getModRevision()).isEqualTo(12);
    }

    private RangeResponse range(String key, UnaryOperator<RangeRequest.Builder> more) throws ApiException {
        return WireForm.message(reader.range(more.apply(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setSerializable(true))
                .build()));
    }

    private ApiException refusal(UnaryOperator<RangeRequest.Builder> more) {
        return catchThrowableOfType(ApiException.class, () -> range("a", more));
    }

    private static List<String> keys(RangeResponse response) {
        return response.getKvsList().stream()
                .map(kv -> kv.getKey().toStringUtf8())
                .toList();
    }
}
