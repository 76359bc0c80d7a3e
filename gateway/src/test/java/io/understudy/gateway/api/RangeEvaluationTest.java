package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rejections in etcd's order and words, and error-prone parts of answers.
 *
 * <p>Tests invariant A1.
 */
final class RangeEvaluationTest {

    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});
    private static final ReplicaState STATE = States.of(
            KeyRange.all(),
            20,
            List.of(
                    States.entry("a", "3", 2, 12, 2),
                    States.entry("b", "2", 3, 11, 5),
                    States.entry("c", "1", 4, 4, 1)));

    private static final ResponseHeaders HEADERS = new ResponseHeaders(new MemberId(0xee), () -> 9);

    @Test
    void theHeaderIsTheSourcesExceptTheMemberId() throws ApiException {
        var header = range("a", request -> request).getHeader();
        assertThat(header.getClusterId()).isEqualTo(0xc1);
        assertThat(header.getMemberId()).isEqualTo(0xee);
        assertThat(header.getRevision()).isEqualTo(20);
        assertThat(header.getRaftTerm()).isEqualTo(9);
    }

    @Test
    void anEmptyKeyIsRejectedFirst() {
        ApiException refusal =
                refusal("3.5.33", request -> request.setKey(ByteString.EMPTY).setSortTargetValue(7));
        assertThat(refusal.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refusal.text()).isEqualTo("etcdserver: key is not provided");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.5.33", "3.6.16", "3.7.3"})
    void anUnknownSortTargetIsRejected(String version) {
        ApiException refusal = refusal(version, request -> request.setSortTargetValue(7));
        assertThat(refusal.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refusal.text()).isEqualTo("etcdserver: invalid sort option");
    }

    @Test
    void anUnknownSortOrderIsKeyOrderBefore36() throws ApiException {
        RangeResponse response = range("3.5.33", "a", request -> request.setRangeEnd(ZERO)
                .setSortOrderValue(7)
                .setSortTargetValue(7)
                .setLimit(2));
        assertThat(keys(response)).containsExactly("a", "b");
        assertThat(refusal("3.6.0", request -> request.setSortOrderValue(7)).text())
                .isEqualTo("etcdserver: invalid sort option");
    }

    @ParameterizedTest
    @CsvSource({"3.6.16,KEY,77", "3.7.3,KEY,0", "3.7.3,VALUE,77", "3.7.3+understudy,MOD,0"})
    void keysOnlyOmitsLeasesFrom37OnUnlessSortedByValue(String version, SortTarget target, long lease)
            throws ApiException {
        ReplicaState leased = States.of(
                KeyRange.all(),
                20,
                List.of(new KeyValue(ByteString.copyFromUtf8("a"), ZERO, new Revision(2), new Revision(12), 2, 77)));
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("a"))
                .setKeysOnly(true)
                .setSortTarget(target)
                .build();
        RangeResponse response = WireMessages.message(RangeEvaluation.range(
                request, new ReplicaKeys(leased), HEADERS.of(leased), EtcdVersion.parse(version)));
        assertThat(response.getKvs(0).getLease()).isEqualTo(lease);
        assertThat(response.getKvs(0).getValue().isEmpty()).isTrue();
    }

    @Test
    void aTargetWithoutAnOrderSortsTheFirstKeysOnly() throws ApiException {
        RangeResponse response = range("a", request -> request.setRangeEnd(ZERO)
                .setSortTarget(SortTarget.VERSION)
                .setLimit(1));
        assertThat(keys(response)).containsExactly("a");
    }

    @Test
    void anEndBeforeTheKeyFindsNothing() throws ApiException {
        RangeResponse response = range("b", request -> request.setRangeEnd(ByteString.copyFromUtf8("a")));
        assertThat(response.getCount()).isZero();
        assertThat(response.getKvsCount()).isZero();
        assertThat(response.getHeader().getRevision()).isEqualTo(20);
    }

    @Test
    void theCountIgnoresTheLimitAndMoreReportsIt() throws ApiException {
        RangeResponse cut = range("a", request -> request.setRangeEnd(ZERO).setLimit(2));
        assertThat(keys(cut)).containsExactly("a", "b");
        assertThat(cut.getCount()).isEqualTo(3);
        assertThat(cut.getMore()).isTrue();
        RangeResponse exact = range("a", request -> request.setRangeEnd(ZERO).setLimit(3));
        assertThat(exact.getMore()).isFalse();
    }

    @Test
    void filtersDoNotChangeTheCount() throws ApiException {
        RangeResponse response = range("a", request -> request.setRangeEnd(ZERO).setMinModRevision(11));
        assertThat(keys(response)).containsExactly("a", "b");
        assertThat(response.getCount()).isEqualTo(3);
        assertThat(response.getMore()).isFalse();
    }

    @Test
    void entriesAreSortedBeforeTheLimit() throws ApiException {
        RangeResponse response = range("a", request -> request.setRangeEnd(ZERO)
                .setSortTarget(SortTarget.VALUE)
                .setSortOrder(SortOrder.ASCEND)
                .setLimit(1));
        assertThat(keys(response)).containsExactly("c");
        assertThat(response.getMore()).isTrue();
    }

    @Test
    void countOnlyAndKeysOnlyOmitTheirFields() throws ApiException {
        RangeResponse count = range(
                "a", request -> request.setRangeEnd(ZERO).setCountOnly(true).setLimit(1));
        assertThat(count.getKvsCount()).isZero();
        assertThat(count.getCount()).isEqualTo(3);
        assertThat(count.getMore()).isFalse();
        RangeResponse keys = range("a", request -> request.setKeysOnly(true));
        assertThat(keys.getKvs(0).getValue().isEmpty()).isTrue();
        assertThat(keys.getKvs(0).getModRevision()).isEqualTo(12);
    }

    private static RangeResponse range(String key, UnaryOperator<RangeRequest.Builder> more) throws ApiException {
        return range("3.7.3", key, more);
    }

    private static RangeResponse range(String version, String key, UnaryOperator<RangeRequest.Builder> more)
            throws ApiException {
        EtcdVersion source = EtcdVersion.parse(version);
        RangeRequest request = more.apply(RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(key)))
                .build();
        RangeRequests.requireValid(request, source);
        return WireMessages.message(RangeEvaluation.range(request, new ReplicaKeys(STATE), HEADERS.of(STATE), source));
    }

    private static ApiException refusal(String version, UnaryOperator<RangeRequest.Builder> more) {
        return catchThrowableOfType(ApiException.class, () -> range(version, "a", more));
    }

    private static List<String> keys(RangeResponse response) {
        return response.getKvsList().stream()
                .map(kv -> kv.getKey().toStringUtf8())
                .toList();
    }
}
