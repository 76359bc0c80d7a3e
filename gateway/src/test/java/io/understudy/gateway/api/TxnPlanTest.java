package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Compare.CompareResult;
import io.etcd.jetcd.api.Compare.CompareTarget;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.TxnPlan.TxnPath;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Which keys a transaction reads and when, and what surprises in its answers.
 *
 * <p>Tests invariant A1c.
 */
final class TxnPlanTest {

    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});
    private static final ResponseHeader HEADER =
            ResponseHeader.newBuilder().setClusterId(1).setRevision(20).build();
    private static final KeySpace NOW = new ReplicaKeys(States.of(
            KeyRange.all(),
            20,
            List.of(
                    States.entry("a", "1", 2, 2, 1),
                    States.entry("b", "2", 3, 3, 1),
                    States.entry("c", "3", 4, 9, 2))));

    @Test
    void needsWhatIsComparedInBranchesNotTakenToo() {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(version("a", 1))
                .addFailure(nested(TxnRequest.newBuilder()
                        .addCompare(version("x", 1).toBuilder().setRangeEnd(ZERO))
                        .build()))
                .build();
        assertThat(new TxnPlan(request).compared())
                .containsExactly(KeyRange.single(key("a")), KeyRange.fromKey(key("x")));
    }

    @Test
    void readsOnlyThePathThatIsTakenInOrder() {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(version("a", 1))
                .addSuccess(range("a"))
                .addSuccess(nested(TxnRequest.newBuilder()
                        .addCompare(version("a", 7))
                        .addSuccess(range("never"))
                        .addFailure(range("b"))
                        .build()))
                .addSuccess(range("c"))
                .addFailure(range("never"))
                .build();
        assertThat(new TxnPlan(request).choose(NOW).ranges())
                .extracting(range -> range.getKey().toStringUtf8())
                .containsExactly("a", "b", "c");
    }

    @Test
    void onlyTheOuterHeaderIsWhole() throws ApiException {
        TxnResponse response = answer(TxnRequest.newBuilder()
                .addSuccess(range("a"))
                .addSuccess(
                        nested(TxnRequest.newBuilder().addSuccess(range("b")).build()))
                .build());
        assertThat(response.getHeader()).isEqualTo(HEADER);
        assertThat(response.getResponses(0).getResponseRange().getHeader())
                .isEqualTo(ResponseHeader.newBuilder().setRevision(20).build());
        TxnResponse inner = response.getResponses(1).getResponseTxn();
        assertThat(inner.hasHeader()).isTrue();
        assertThat(inner.getHeader()).isEqualTo(ResponseHeader.getDefaultInstance());
        assertThat(inner.getResponses(0).getResponseRange().getKvs(0).getKey()).isEqualTo(key("b"));
    }

    @Test
    void aComparedRangeHoldsIfAllItsKeysDo() {
        assertThat(succeeds(compare("a", CompareTarget.VERSION, CompareResult.GREATER)
                        .setRangeEnd(ZERO)
                        .setVersion(0)))
                .isTrue();
        assertThat(succeeds(compare("a", CompareTarget.VERSION, CompareResult.EQUAL)
                        .setRangeEnd(ZERO)
                        .setVersion(1)))
                .isFalse();
    }

    @Test
    void aMissingKeyHasNoRevisionAndNoValue() {
        assertThat(succeeds(compare("x", CompareTarget.CREATE, CompareResult.EQUAL)))
                .isTrue();
        assertThat(succeeds(compare("x", CompareTarget.VALUE, CompareResult.NOT_EQUAL)
                        .setValue(key("1"))))
                .isFalse();
        assertThat(succeeds(compare("c", CompareTarget.VALUE, CompareResult.NOT_EQUAL)
                        .setValue(key("1"))))
                .isTrue();
    }

    @Test
    void aRevisionThatCannotBeReadEndsTheReadsAndIsTheError() {
        TxnRequest request = TxnRequest.newBuilder()
                .addSuccess(range("a"))
                .addSuccess(RequestOp.newBuilder()
                        .setRequestRange(
                                RangeRequest.newBuilder().setKey(key("b")).setRevision(21)))
                .addSuccess(range("c"))
                .build();
        TxnPath path = new TxnPlan(request).choose(NOW);
        assertThat(path.ranges()).hasSize(1);
        assertThat(catchThrowableOfType(ApiException.class, () -> answer(request))
                        .text())
                .isEqualTo("etcdserver: mvcc: required revision is a future revision");
    }

    @Test
    void isSerializableOnlyWithoutNestingAndIfAllOfBothBranchesIs() {
        RequestOp serializable = RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key("a")).setSerializable(true))
                .build();
        TxnRequest all = TxnRequest.newBuilder()
                .addSuccess(serializable)
                .addFailure(serializable)
                .build();
        assertThat(TxnRequests.isSerializable(all)).isTrue();
        assertThat(TxnRequests.isSerializable(
                        all.toBuilder().addFailure(range("a")).build()))
                .isFalse();
        assertThat(TxnRequests.isSerializable(
                        all.toBuilder().addSuccess(nested(all)).build()))
                .isFalse();
        assertThat(TxnRequests.isSerializable(TxnRequest.getDefaultInstance())).isTrue();
    }

    @Test
    void writesAreFoundAtAnyDepthInAnyBranch() {
        TxnRequest write = TxnRequest.newBuilder()
                .addFailure(RequestOp.newBuilder().setRequestPut(PutRequest.getDefaultInstance()))
                .build();
        assertThat(TxnRequests.isReadOnly(write)).isFalse();
        assertThat(TxnRequests.isReadOnly(
                        TxnRequest.newBuilder().addFailure(nested(write)).build()))
                .isFalse();
        assertThat(TxnRequests.isReadOnly(TxnRequest.newBuilder()
                        .addSuccess(range("a"))
                        .addFailure(nested(TxnRequest.getDefaultInstance()))
                        .build()))
                .isTrue();
    }

    @Test
    void theLimitOfOperationsIsOfWidthsAlongAPath() {
        assertThatCode(() -> TxnRequests.requireValid(nestedWidths(64, 64), EtcdVersion.NEWEST))
                .doesNotThrowAnyException();
        assertThat(catchThrowableOfType(
                                ApiException.class,
                                () -> TxnRequests.requireValid(nestedWidths(64, 65), EtcdVersion.NEWEST))
                        .text())
                .isEqualTo("etcdserver: too many operations in txn request");
    }

    private static TxnRequest nestedWidths(int outer, int inner) {
        TxnRequest.Builder innerTxn = TxnRequest.newBuilder();
        for (int i = 0; i < inner; i++) {
            innerTxn.addSuccess(range("a"));
        }
        TxnRequest.Builder request = TxnRequest.newBuilder();
        for (int i = 0; i < outer; i++) {
            request.addSuccess(nested(innerTxn.build()));
        }
        return request.build();
    }

    private static boolean succeeds(Compare.Builder compare) {
        try {
            return answer(TxnRequest.newBuilder().addCompare(compare).build()).getSucceeded();
        } catch (ApiException e) {
            throw new AssertionError(e);
        }
    }

    private static TxnResponse answer(TxnRequest request) throws ApiException {
        TxnPath path = new TxnPlan(request).choose(NOW);
        List<RangeResult> results = new ArrayList<>();
        for (RangeRequest range : path.ranges()) {
            results.add(RangeEvaluation.range(range, NOW, HEADER, EtcdVersion.NEWEST));
        }
        return WireMessages.message(path.result(results, HEADER));
    }

    private static Compare version(String key, long version) {
        return compare(key, CompareTarget.VERSION, CompareResult.EQUAL)
                .setVersion(version)
                .build();
    }

    private static Compare.Builder compare(String key, CompareTarget target, CompareResult result) {
        return Compare.newBuilder().setKey(key(key)).setTarget(target).setResult(result);
    }

    private static RequestOp range(String key) {
        return RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key(key)))
                .build();
    }

    private static RequestOp nested(TxnRequest request) {
        return RequestOp.newBuilder().setRequestTxn(request).build();
    }

    private static ByteString key(String key) {
        return ByteString.copyFromUtf8(key);
    }
}
