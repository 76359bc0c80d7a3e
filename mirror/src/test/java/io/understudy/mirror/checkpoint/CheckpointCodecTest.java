package io.understudy.mirror.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
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

/**
 * A checkpoint comes back as it was stored, and nothing else is taken for one.
 *
 * <p>Tests invariant M25.
 */
final class CheckpointCodecTest {

    private static final String KEY = "key \"/checkpoint\"";

    private static final ByteString RENAMED = ByteString.copyFromUtf8("/");

    private static final Checkpoint PLAIN = new Checkpoint(
            new ClusterId(0xcdf8),
            MirrorScope.all(),
            new Revision(42),
            new Anchor(new Revision(40), CommitDigest.parse("00112233445566778899aabbccddeeff")),
            3,
            "host/1/ab",
            List.of(new ClusterId(0xab), new ClusterId(0xcdf8)),
            Instant.parse("2026-01-31T12:00:00.123Z"),
            CheckpointState.SYNCED);

    @Test
    void isReadable() {
        assertThat(CheckpointCodec.encode(PLAIN).toStringUtf8())
                .isEqualTo(
                        "{\"format\":1,\"source\":\"cdf8\",\"scope\":{\"include\":[],\"exclude\":[],\"from\":\"\",\"to\":\"\"},\"revision\":42,"
                                + "\"anchor\":{\"revision\":40,\"digest\":\"00112233445566778899aabbccddeeff\"},\"epoch\":3,"
                                + "\"writer\":\"host/1/ab\",\"path\":[\"ab\",\"cdf8\"],\"at\":\"2026-01-31T12:00:00.123Z\",\"state\":\"synced\"}");
    }

    @Property(tries = 500)
    void decodesWhatItEncodes(@ForAll("checkpoints") Checkpoint checkpoint) throws CorruptCheckpointException {
        assertThat(CheckpointCodec.decode(KEY, CheckpointCodec.encode(checkpoint)))
                .isEqualTo(checkpoint);
    }

    /** Any changed byte is either rejected, naming the key, or yields a checkpoint with just that change. */
    @Property(tries = 500)
    void aChangedByteIsRejectedOrDecodedAsSuch(
            @ForAll("checkpoints") Checkpoint checkpoint, @ForAll int at, @ForAll byte changed) {
        byte[] stored = CheckpointCodec.encode(checkpoint).toByteArray();
        stored[Math.floorMod(at, stored.length)] = changed;
        ByteString corrupt = ByteString.copyFrom(stored);
        try {
            Checkpoint read = CheckpointCodec.decode(KEY, corrupt);
            assertThat(CheckpointCodec.decode(KEY, CheckpointCodec.encode(read)))
                    .isEqualTo(read);
        } catch (CorruptCheckpointException e) {
            assertThat(e).hasMessageContaining(KEY).hasMessageContaining(stored.length + " bytes");
        }
    }

    @Property(tries = 100)
    void aTruncatedCheckpointIsRejected(@ForAll("checkpoints") Checkpoint checkpoint, @ForAll int length) {
        ByteString whole = CheckpointCodec.encode(checkpoint);
        ByteString part = whole.substring(0, Math.floorMod(length, whole.size()));
        assertThatThrownBy(() -> CheckpointCodec.decode(KEY, part)).isInstanceOf(CorruptCheckpointException.class);
    }

    @Test
    void anotherVersionIsRejectedNamingBoth() {
        String stored = CheckpointCodec.encode(PLAIN).toStringUtf8().replace("\"format\":1", "\"format\":2");
        assertThatThrownBy(() -> CheckpointCodec.decode(KEY, ByteString.copyFromUtf8(stored)))
                .isInstanceOf(CorruptCheckpointException.class)
                .hasMessageContaining(KEY)
                .hasMessageContaining("format is 2; this build supports only format 1")
                .hasMessageContaining("\"epoch\":3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "42",
                "[]",
                "{}",
                "{\"format\":1}",
                "{\"format\":\"1\"}",
                "hello",
                "{\"format\":1,\"format\":1}",
                "{\"format\":1} {\"format\":1}"
            })
    void otherContentIsRejected(String stored) {
        assertThatThrownBy(() -> CheckpointCodec.decode(KEY, ByteString.copyFromUtf8(stored)))
                .isInstanceOf(CorruptCheckpointException.class)
                .hasMessageContaining(KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"epoch\":3 -> \"epoch\":0",
                "\"epoch\":3 -> \"epoch\":3.5",
                "\"epoch\":3 -> \"epoch\":99999999999999999999",
                "\"revision\":42 -> \"revision\":-1",
                "\"revision\":42 -> \"revision\":39",
                "\"revision\":42 -> \"revision\":\"42\"",
                "\"state\":\"synced\" -> \"state\":\"SYNCED\"",
                "\"state\":\"synced\" -> \"state\":null",
                "\"source\":\"cdf8\" -> \"source\":\"0cdf8\"",
                "\"source\":\"cdf8\" -> \"source\":\"xyz\"",
                "\"from\":\"\" -> \"from\":\"abc\"",
                "\"digest\":\"00 -> \"digest\":\"",
                "\"writer\":\"host/1/ab\" -> \"writer\":\" \"",
                "\"to\":\"\" -> \"to\":null",
                "\"to\":\"\" -> \"to\":\"AB\"",
                "\"path\":[\"ab\" -> \"path\":[\"0ab\"",
                "\"path\":[\"ab\", -> \"path\":[1,",
                "\"exclude\":[] -> \"exclude\":[\"\"]",
                "00.123Z -> 00.123",
                ",\"state\" -> ,\"more\":1,\"state\"",
                ",\"epoch\":3 -> "
            })
    void anInvalidFieldIsRejected(String replacement) {
        String[] parts = replacement.split(" -> ?", 2);
        String before = CheckpointCodec.encode(PLAIN).toStringUtf8();
        String stored = before.replace(parts[0], parts[1]);
        assertThat(stored).isNotEqualTo(before);
        assertThatThrownBy(() -> CheckpointCodec.decode(KEY, ByteString.copyFromUtf8(stored)))
                .isInstanceOf(CorruptCheckpointException.class)
                .hasMessageContaining(KEY);
    }

    @Test
    void binaryContentIsShownEscapedAndTruncated() {
        ByteString stored = ByteString.copyFrom(new byte[1000]).concat(ByteString.copyFrom(new byte[] {(byte) 0xff}));
        assertThatThrownBy(() -> CheckpointCodec.decode(KEY, stored))
                .isInstanceOf(CorruptCheckpointException.class)
                .hasMessageContaining("found 1001 bytes: \\x00\\x00")
                .hasMessageEndingWith("…");
    }

    @Provide
    static Arbitrary<Checkpoint> checkpoints() {
        Arbitrary<Long> any = Arbitraries.longs();
        Arbitrary<Long> revisions = Arbitraries.longs().between(0, Long.MAX_VALUE);
        Arbitrary<String> writers = Arbitraries.strings().ofMinLength(1).map(text -> "w" + text);
        return Combinators.combine(
                        any,
                        scopes(),
                        revisions,
                        anchors().injectNull(0.3),
                        Arbitraries.longs().between(1, Long.MAX_VALUE),
                        writers,
                        Arbitraries.longs().between(0, 1L << 50),
                        Arbitraries.of(CheckpointState.class))
                .as((source, scope, revision, anchor, epoch, writer, at, state) -> new Checkpoint(
                        new ClusterId(source),
                        scope,
                        new Revision(
                                anchor == null
                                        ? revision
                                        : Math.max(revision, anchor.revision().value())),
                        anchor,
                        epoch,
                        writer,
                        List.of(new ClusterId(epoch), new ClusterId(source)),
                        Instant.ofEpochMilli(at),
                        state));
    }

    private static Arbitrary<Anchor> anchors() {
        Arbitrary<byte[]> digests = Arbitraries.bytes().array(byte[].class).ofSize(CommitDigest.SIZE_BYTES);
        return Combinators.combine(Arbitraries.longs().between(0, Long.MAX_VALUE), digests)
                .as((revision, digest) ->
                        new Anchor(new Revision(revision), new CommitDigest(ByteString.copyFrom(digest))));
    }

    private static Arbitrary<MirrorScope> scopes() {
        Arbitrary<ByteString> keys = Arbitraries.bytes()
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(20)
                .map(ByteString::copyFrom);
        return Combinators.combine(keys, keys)
                .as((include, more) -> new MirrorScope(
                        List.of(include), List.of(include.concat(more)), include, RENAMED.concat(more)));
    }
}
