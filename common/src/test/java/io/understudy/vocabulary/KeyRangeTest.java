package io.understudy.vocabulary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class KeyRangeTest {

    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});

    @Property
    void aPrefixContainsExactlyTheKeysThatStartWithIt(
            @ForAll @Size(max = 3) byte[] prefix, @ForAll @Size(max = 5) byte[] key) {
        ByteString bytes = ByteString.copyFrom(key);

        assertThat(KeyRange.prefix(ByteString.copyFrom(prefix)).contains(bytes))
                .isEqualTo(bytes.startsWith(ByteString.copyFrom(prefix)));
    }

    @Property
    void aSingleKeyContainsOnlyItself(@ForAll @Size(max = 3) byte[] key, @ForAll @Size(max = 4) byte[] other) {
        KeyRange single = KeyRange.single(ByteString.copyFrom(key));

        assertThat(single.contains(ByteString.copyFrom(key))).isTrue();
        assertThat(single.contains(ByteString.copyFrom(other)))
                .isEqualTo(ByteString.copyFrom(key).equals(ByteString.copyFrom(other)));
    }

    @Test
    void aPrefixOfHighestBytesHasNoEnd() {
        assertThat(KeyRange.prefix(ByteString.copyFrom(new byte[] {(byte) 0xff, (byte) 0xff}))
                        .to())
                .isNull();
    }

    @Test
    void theWholeKeySpaceIsWrittenAsEtcdWritesIt() {
        assertThat(KeyRange.all().etcdKey()).isEqualTo(ZERO);
        assertThat(KeyRange.all().etcdRangeEnd()).isEqualTo(ZERO);
        assertThat(KeyRange.ofEtcd(ZERO, ZERO)).isEqualTo(KeyRange.all());
    }

    @Test
    void coversRangesThatLieInside() {
        KeyRange a = KeyRange.prefix(ByteString.copyFromUtf8("a"));

        assertThat(KeyRange.all().covers(a)).isTrue();
        assertThat(a.covers(KeyRange.prefix(ByteString.copyFromUtf8("ab")))).isTrue();
        assertThat(a.covers(KeyRange.fromKey(ByteString.copyFromUtf8("a")))).isFalse();
        assertThat(a.covers(KeyRange.all())).isFalse();
    }

    @Test
    void rangesIntersectWhereSomeKeyIsInBoth() {
        KeyRange a = KeyRange.prefix(ByteString.copyFromUtf8("a"));
        KeyRange b = KeyRange.prefix(ByteString.copyFromUtf8("b"));

        assertThat(a.intersects(KeyRange.all())).isTrue();
        assertThat(KeyRange.all().intersects(a)).isTrue();
        assertThat(a.intersects(KeyRange.prefix(ByteString.copyFromUtf8("ab")))).isTrue();
        assertThat(a.intersects(b)).isFalse();
        assertThat(b.intersects(a)).isFalse();
        assertThat(a.intersects(KeyRange.fromKey(ByteString.copyFromUtf8("b")))).isFalse();
    }

    @Test
    void anEmptyRangeIsRefused() {
        ByteString key = ByteString.copyFromUtf8("k");

        assertThatThrownBy(() -> new KeyRange(key, key)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void withoutAnotherRangeTheRestIsWhatIsLeftOnBothSides() {
        KeyRange range = new KeyRange(utf8("b"), utf8("m"));
        assertThat(range.without(new KeyRange(utf8("d"), utf8("f"))))
                .containsExactly(new KeyRange(utf8("b"), utf8("d")), new KeyRange(utf8("f"), utf8("m")));
        assertThat(range.without(new KeyRange(utf8("a"), utf8("c"))))
                .containsExactly(new KeyRange(utf8("c"), utf8("m")));
        assertThat(range.without(KeyRange.fromKey(utf8("c")))).containsExactly(new KeyRange(utf8("b"), utf8("c")));
        assertThat(range.without(new KeyRange(utf8("m"), utf8("z")))).containsExactly(range);
        assertThat(range.without(KeyRange.all())).isEmpty();
        assertThat(KeyRange.all().without(range))
                .containsExactly(new KeyRange(ByteString.EMPTY, utf8("b")), KeyRange.fromKey(utf8("m")));
    }

    private static ByteString utf8(String key) {
        return ByteString.copyFromUtf8(key);
    }
}
