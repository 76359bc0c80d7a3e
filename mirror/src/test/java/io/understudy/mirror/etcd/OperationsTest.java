package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.etcd.Operations.OperationTree;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class OperationsTest {

    private static final Revision REVISION = new Revision(7);

    @Test
    void reservedKeysAreNotCopied() {
        assertThat(Operations.of(
                        commit(put("\0understudy/mirror/x/checkpoint", "1"), put("a", "1")), MirrorScope.all(), false))
                .containsExactly(EtcdMessages.put(bytes("a"), bytes("1")));
    }

    @Test
    void theLastChangeOfAKeyWins() {
        assertThat(Operations.of(
                        commit(put("a", "1"), put("b", "1"), new Change.Delete(bytes("a"))), MirrorScope.all(), false))
                .containsExactlyInAnyOrder(EtcdMessages.delete(bytes("a")), EtcdMessages.put(bytes("b"), bytes("1")));
    }

    @Test
    void leasesAreNotCopied() {
        Change leased = new Change.Put(new KeyValue(bytes("a"), bytes("1"), REVISION, REVISION, 1, 99));
        assertThat(Operations.of(commit(leased), MirrorScope.all(), false)
                        .get(0)
                        .getRequestPut()
                        .getLease())
                .isZero();
    }

    /** A transaction built of a part, at any nesting, is no larger than the room that was given. */
    @Property(tries = 200)
    void partsKeepOrderAndFit(
            @ForAll @Size(min = 1, max = 2_000) List<@IntRange(max = 300) Integer> sizes,
            @ForAll @IntRange(min = 400, max = 100_000) int room) {
        List<RequestOp> operations = IntStream.range(0, sizes.size())
                .mapToObj(i -> EtcdMessages.put(bytes("key" + i), ByteString.copyFrom(new byte[sizes.get(i)])))
                .toList();
        List<List<RequestOp>> parts = Operations.parts(operations, room);
        assertThat(parts.stream().flatMap(List::stream)).containsExactlyElementsOf(operations);
        for (List<RequestOp> part : parts) {
            int bytes = TxnRequest.newBuilder()
                    .addAllSuccess(OperationTree.of(part, 127))
                    .build()
                    .getSerializedSize();
            assertThat(bytes).isLessThanOrEqualTo(room);
        }
    }

    @Test
    void anOversizedOperationIsAPartOfItsOwn() {
        List<RequestOp> operations = List.of(
                EtcdMessages.put(bytes("a"), bytes("1")),
                EtcdMessages.put(bytes("b"), ByteString.copyFrom(new byte[1_000])),
                EtcdMessages.put(bytes("c"), bytes("1")));
        assertThat(Operations.parts(operations, 100)).hasSize(3);
    }

    private static Commit commit(Change... changes) {
        return new Commit(REVISION, List.of(changes));
    }

    private static Change put(String key, String value) {
        return new Change.Put(new KeyValue(bytes(key), bytes(value), REVISION, REVISION, 1, 0));
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
