package io.understudy.mirror.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A scope's ranges hold exactly the keys that it contains, on either side. */
final class MirrorScopeTest {

    @Property(tries = 2_000)
    void rangesHoldExactlyTheMirroredKeys(@ForAll("scopes") MirrorScope scope, @ForAll("keys") ByteString key) {
        boolean inside = scope.sourceRanges().stream().anyMatch(range -> range.contains(key));
        assertThat(inside).isEqualTo(scope.contains(key));
        if (inside) {
            ByteString renamed = scope.inTarget(key);
            assertThat(scope.targetRanges()).anyMatch(range -> range.contains(renamed));
            assertThat(scope.atSource(renamed)).isEqualTo(key);
            assertThat(ReservedKeys.contains(renamed)).isFalse();
            assertThat(scope.named().contains(renamed)).isTrue();
            assertThat(scope.inTarget(scope.feedRange(false)).contains(renamed)).isTrue();
            assertThat(scope.feedRange(false).contains(key)).isTrue();
            assertThat(scope.feedRange(true).contains(key)).isTrue();
        }
    }

    @Property(tries = 1_000)
    void keysOfTheTargetsRangesAreOfMirroredKeys(@ForAll("scopes") MirrorScope scope, @ForAll("keys") ByteString key) {
        for (KeyRange range : scope.targetRanges()) {
            if (range.contains(key)) {
                assertThat(scope.contains(scope.atSource(key))).isTrue();
                assertThat(scope.named().contains(key)).isTrue();
                assertThat(scope.inTarget(scope.atSource(range))).isEqualTo(range);
            }
        }
    }

    @Property(tries = 500)
    void rangesAreDisjointAndInOrder(@ForAll("scopes") MirrorScope scope) {
        for (List<KeyRange> ranges : List.of(scope.sourceRanges(), scope.targetRanges())) {
            for (int i = 1; i < ranges.size(); i++) {
                ByteString end = ranges.get(i - 1).to();
                assertThat(end).isNotNull();
                assertThat(KeyRange.KEY_ORDER.compare(end, ranges.get(i).from()))
                        .isLessThanOrEqualTo(0);
            }
        }
    }

    @Property(tries = 500)
    void theTargetsRangesHoldNoReservedKeys(@ForAll("scopes") MirrorScope scope) {
        assertThat(scope.targetRanges()).noneMatch(ReservedKeys.RANGE::intersects);
    }

    @Property(tries = 500)
    void aMarkedFeedHoldsTheReservedKeysToo(@ForAll("scopes") MirrorScope scope) {
        assertThat(scope.feedRange(true).covers(ReservedKeys.RANGE)).isTrue();
    }

    @Test
    void contradictoryScopesAreRejected() {
        assertThatThrownBy(() -> MirrorScope.of(List.of(bytes("a"), bytes("ab"))))
                .hasMessage("include \"ab\" is contained in \"a\"; remove one of them");
        assertThatThrownBy(() -> new MirrorScope(List.of(bytes("a")), List.of(bytes("b")), bytes(""), bytes("")))
                .hasMessage("exclude \"b\" is not within include");
        assertThatThrownBy(() -> new MirrorScope(List.of(bytes("a")), List.of(), bytes("b"), bytes("c")))
                .hasMessage("every include must start with rename.from, \"b\"");
        assertThatThrownBy(() -> new MirrorScope(List.of(), List.of(), bytes("/a/"), bytes("")))
                .hasMessage(
                        "rename.from is \"/a/\", but include is not set; set include to prefixes that start with \"/a/\"");
        assertThatThrownBy(() -> new MirrorScope(List.of(bytes("a")), List.of(), bytes("a"), bytes("\0understudy/x")))
                .hasMessageContaining("reserved for Understudy");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\0", "\0understudy", "\0understudy/"})
    void aNewPrefixOverlappingReservedKeysIsRejected(String to) {
        assertThatThrownBy(() -> new MirrorScope(List.of(bytes("a")), List.of(), bytes("a"), bytes(to)))
                .hasMessageContaining("reserved for Understudy");
    }

    @Test
    void aPrefixMayBeRemovedAgain() {
        MirrorScope scope = new MirrorScope(List.of(bytes("a/")), List.of(), bytes(""), bytes("dr/"));
        assertThat(scope.reversed().inTarget(bytes("dr/a/1"))).isEqualTo(bytes("a/1"));
    }

    @Provide
    static Arbitrary<ByteString> keys() {
        return Arbitraries.strings()
                .withChars("ab\0")
                .ofMinLength(1)
                .ofMaxLength(5)
                .map(MirrorScopeTest::bytes)
                .injectDuplicates(0.1)
                .flatMap(key -> Arbitraries.of(
                        key, bytes("\0understudy/").concat(key), bytes("x").concat(key)));
    }

    @Provide
    static Arbitrary<MirrorScope> scopes() {
        Arbitrary<String> texts = Arbitraries.strings().withChars("ab").ofMaxLength(3);
        return Combinators.combine(
                        texts, texts, texts, Arbitraries.of("x", "y/", "b", "\0a"), Arbitraries.of(true, false))
                .as((one, two, out, to, rename) -> {
                    List<ByteString> include = one.startsWith(two) || two.startsWith(one)
                            ? List.of(bytes(one))
                            : List.of(bytes(one), bytes(two));
                    List<ByteString> exclude = out.isEmpty() ? List.of() : List.of(bytes(one + out));
                    boolean single = include.size() == 1 && !one.isEmpty();
                    return new MirrorScope(
                            include, exclude, bytes(rename && single ? one : ""), bytes(rename && single ? to : ""));
                });
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
