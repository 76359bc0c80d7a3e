package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.Operations.OperationTree;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Nesting keeps every operation, in order, within etcd's limit of width along each path. */
final class OperationTreeTest {

    @Property(tries = 200)
    void keepsEveryOperationWithinTheBudget(
            @ForAll @IntRange(max = 30_000) int count, @ForAll @IntRange(min = 40, max = 127) int budget) {
        List<RequestOp> operations = operations(count);
        List<RequestOp> tree = OperationTree.of(operations, budget);
        assertThat(flattened(tree)).isEqualTo(operations);
        assertThat(widestPath(tree)).isLessThanOrEqualTo(budget);
    }

    @Test
    void staysFlatWhereItFits() {
        List<RequestOp> operations = operations(127);
        assertThat(OperationTree.of(operations, 127)).isEqualTo(operations);
    }

    @Test
    void holdsAsManyAsARequestCan() {
        List<RequestOp> operations = operations(220_000);
        List<RequestOp> tree = OperationTree.of(operations, 127);
        assertThat(flattened(tree)).hasSize(220_000);
        assertThat(widestPath(tree)).isLessThanOrEqualTo(127);
    }

    @Test
    void rejectsMoreOperationsThanAnyDepthHolds() {
        assertThatThrownBy(() -> OperationTree.of(operations(1_000), 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1000 operations");
    }

    private static List<RequestOp> operations(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> EtcdMessages.delete(ByteString.copyFromUtf8(Integer.toString(i))))
                .toList();
    }

    private static List<RequestOp> flattened(List<RequestOp> tree) {
        List<RequestOp> flat = new ArrayList<>();
        for (RequestOp operation : tree) {
            if (operation.hasRequestTxn()) {
                assertThat(operation.getRequestTxn().getCompareCount()).isZero();
                flat.addAll(flattened(operation.getRequestTxn().getSuccessList()));
            } else {
                flat.add(operation);
            }
        }
        return flat;
    }

    private static int widestPath(List<RequestOp> tree) {
        int below = tree.stream()
                .filter(RequestOp::hasRequestTxn)
                .mapToInt(operation -> widestPath(operation.getRequestTxn().getSuccessList()))
                .max()
                .orElse(0);
        return tree.size() + below;
    }
}
