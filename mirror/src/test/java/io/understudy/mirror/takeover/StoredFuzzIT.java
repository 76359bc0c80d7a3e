package io.understudy.mirror.takeover;

import io.understudy.local.fuzz.Fuzzer;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests invariant M25. */
@Tag("fuzz")
final class StoredFuzzIT {

    @TempDir
    private Path folder;

    @Test
    void anyBytesAreExactlyWhatAMirrorStoresOrRefused() {
        Instant now = Instant.parse("2026-01-31T12:00:00.123Z");
        ClusterId source = new ClusterId(0xcdf8);
        ClusterId target = new ClusterId(0xab);
        Checkpoint checkpoint = new Checkpoint(
                source,
                MirrorScope.prefix("app/"),
                new Revision(42),
                new Anchor(new Revision(40), CommitDigest.parse("00112233445566778899aabbccddeeff")),
                3,
                "host/1/ab",
                List.of(source),
                now,
                CheckpointState.SYNCED);
        Home home = new Home("dr", source, source, target, MirrorScope.all(), 0, now);
        Journal journal = Journal.begun(Journal.Kind.SWITCHOVER, "host/1/ab", now, source, target, FreezeMode.ALARM);
        Fuzzer.of(StoredFuzz.class)
                .beginningWith(
                        CheckpointCodec.encode(checkpoint).toByteArray(),
                        home.encode().toByteArray(),
                        JournalCodec.encode(journal).toByteArray())
                .run(Schedule.isLong() ? 400_000 : 2_000, folder);
    }
}
