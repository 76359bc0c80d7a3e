package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/**
 * After a merge the target equals the page, and nothing was written that was equal before.
 *
 * <p>Tests invariant M20.
 */
final class PageMergeTest {

    private static final long FIRST_CHECKPOINT = 100;

    @Property(tries = 1_000)
    void makesTheTargetEqualWritingOnlyWhatDiffers(
            @ForAll("states") Map<String, String> source, @ForAll("states") Map<String, String> target) {
        List<RequestOp> operations = merge(source, target, FIRST_CHECKPOINT + 1, ForeignKeys.FAIL);
        Map<String, String> after = applied(target, operations);
        assertThat(after).isEqualTo(source);
        long differing = source.entrySet().stream()
                        .filter(entry -> !entry.getValue().equals(target.get(entry.getKey())))
                        .count()
                + target.keySet().stream()
                        .filter(key -> !source.containsKey(key))
                        .count();
        assertThat(operations).hasSize((int) differing);
    }

    @Test
    void foreignKeysAreKeptUnlessTheSourceHasThem() {
        PageMerge merge =
                new PageMerge(List.of(entry("a", "1"), entry("b", "1")), ForeignKeys.KEEP, false, FIRST_CHECKPOINT);
        merge.enter(
                KeyRange.all(),
                List.of(held("a", "1", FIRST_CHECKPOINT - 1), held("c", "1", FIRST_CHECKPOINT - 1))
                        .iterator());
        assertThat(merge.next()).isEqualTo(new PageMerge.Difference.Missing(entry("a", "1"), true));
        assertThat(merge.next()).isEqualTo(new PageMerge.Difference.Missing(entry("b", "1"), false));
        assertThat(merge.next()).isNull();
    }

    @Test
    void aKeptForeignKeyIsStillKeptAfterItsOwnersWrite() {
        io.etcd.jetcd.api.KeyValue written = held("c", "1", FIRST_CHECKPOINT - 1).toBuilder()
                .setModRevision(FIRST_CHECKPOINT + 1)
                .build();
        PageMerge merge = new PageMerge(List.of(), ForeignKeys.KEEP, false, FIRST_CHECKPOINT);
        merge.enter(KeyRange.all(), List.of(written).iterator());
        assertThat(merge.next()).isNull();
    }

    @Test
    void foreignKeysAreDeletedIfConfigured() {
        assertThat(merge(Map.of("a", "1"), Map.of("a", "1", "c", "1"), FIRST_CHECKPOINT - 1, ForeignKeys.DELETE))
                .containsExactly(EtcdMessages.delete(ByteString.copyFromUtf8("c")));
    }

    @Test
    void aForeignKeyIsRejectedByNameByDefault() {
        assertThatThrownBy(() -> merge(Map.of("a", "1"), Map.of("c", "1"), FIRST_CHECKPOINT - 1, ForeignKeys.FAIL))
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("\"c\"")
                .hasMessageContaining("onForeignKeys");
    }

    @Test
    void aKeyOfTheMirrorIsPrunedEvenWhereForeignKeysAreKept() {
        assertThat(merge(Map.of(), Map.of("c", "1"), FIRST_CHECKPOINT + 1, ForeignKeys.KEEP))
                .containsExactly(EtcdMessages.delete(ByteString.copyFromUtf8("c")));
    }

    @Test
    void reservedEntriesBetweenThePartsAreSkipped() {
        List<KeyValue> entries = List.of(entry("a", "1"), entry("m", "1"), entry("z", "1"));
        PageMerge merge = new PageMerge(entries, ForeignKeys.FAIL, false, FIRST_CHECKPOINT);
        merge.enter(range("", "m"), List.<io.etcd.jetcd.api.KeyValue>of().iterator());
        List<RequestOp> operations = new ArrayList<>(drained(merge));
        merge.enter(range("n", "zz"), List.<io.etcd.jetcd.api.KeyValue>of().iterator());
        operations.addAll(drained(merge));
        assertThat(operations).containsExactly(put("a", "1"), put("z", "1"));
    }

    @Provide
    static Arbitrary<Map<String, String>> states() {
        Arbitrary<String> keys =
                Arbitraries.strings().withChars("abc").ofMinLength(1).ofMaxLength(3);
        return Arbitraries.maps(keys, Arbitraries.of("", "1", "2")).ofMaxSize(15);
    }

    private static List<RequestOp> merge(
            Map<String, String> source, Map<String, String> target, long targetRevision, ForeignKeys policy) {
        List<KeyValue> entries = new TreeMap<>(source)
                .entrySet().stream().map(e -> entry(e.getKey(), e.getValue())).toList();
        PageMerge merge = new PageMerge(entries, policy, false, FIRST_CHECKPOINT);
        merge.enter(
                KeyRange.all(),
                new TreeMap<>(target)
                        .entrySet().stream()
                                .map(e -> held(e.getKey(), e.getValue(), targetRevision))
                                .iterator());
        return drained(merge);
    }

    private static List<RequestOp> drained(PageMerge merge) {
        List<RequestOp> operations = new ArrayList<>();
        for (PageMerge.Difference next = merge.next(); next != null; next = merge.next()) {
            operations.add(
                    next instanceof PageMerge.Difference.Missing missing
                            ? EtcdMessages.put(
                                    missing.entry().key(), missing.entry().value())
                            : EtcdMessages.delete(((PageMerge.Difference.Surplus) next).key()));
        }
        return operations;
    }

    private static Map<String, String> applied(Map<String, String> before, List<RequestOp> operations) {
        Map<String, String> after = new TreeMap<>(before);
        for (RequestOp operation : operations) {
            if (operation.hasRequestPut()) {
                after.put(
                        operation.getRequestPut().getKey().toStringUtf8(),
                        operation.getRequestPut().getValue().toStringUtf8());
            } else {
                after.remove(operation.getRequestDeleteRange().getKey().toStringUtf8());
            }
        }
        return after;
    }

    private static KeyRange range(String from, String to) {
        return new KeyRange(ByteString.copyFromUtf8(from), ByteString.copyFromUtf8(to));
    }

    private static RequestOp put(String key, String value) {
        return EtcdMessages.put(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(value));
    }

    private static KeyValue entry(String key, String value) {
        Revision revision = new Revision(5);
        return new KeyValue(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(value), revision, revision, 1, 0);
    }

    private static io.etcd.jetcd.api.KeyValue held(String key, String value, long revision) {
        return io.etcd.jetcd.api.KeyValue.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(ByteString.copyFromUtf8(value))
                .setCreateRevision(revision)
                .setModRevision(revision)
                .build();
    }
}
