package io.understudy.mirror.revisions;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.fixture.Clusters;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The target's history is compacted up to the revision of the configured age, or missing compaction is reported.
 *
 * <p>Tests invariant M33.
 */
final class TargetCompactionIT {

    private static final Duration AGE = Duration.ofMinutes(10);

    /** Of no mirror, and not mirrored. */
    private static final String OTHERS = "\0understudy/elsewhere";

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private final Clusters clusters = CLUSTERS.connections();

    @Test
    void compactsUpToTheRevisionOfTheConfiguredAge() throws Exception {
        RevisionMap map = new RevisionMap(new CheckpointHistory("dr", clusters.target()));
        CheckpointHistory history = new CheckpointHistory("dr", clusters.target());
        TargetCompaction compaction = new TargetCompaction("dr", clusters.target(), AGE);
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            puts(mirror, 20);
            Moment then = history.now();
            // Not the present: a checkpoint's time has milliseconds, and the next put may take less than one.
            Instant between = then.checkpoint().at();
            target.put(OTHERS, "1");
            puts(mirror, 20);
            target.put(OTHERS, "2");

            compaction.compactOrWarn(between);
            assertThat(compaction.compacted()).as("nothing is that old").isEqualTo(Revision.ZERO);

            compaction.compactOrWarn(between.plus(AGE));
            assertThat(compaction.compacted()).isEqualTo(then.written());
            assertThat(map.oldest(history.now().revision())).isEqualTo(then.written());

            compaction.compactOrWarn(between.plus(AGE).plus(AGE));
            assertThat(compaction.compacted())
                    .as("not what another client wrote, of which the age is unknown")
                    .isEqualTo(history.now().written())
                    .isLessThan(history.now().revision());
            puts(mirror, 5);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void warnsOfATargetWithoutCompaction() throws Exception {
        TargetCompaction compaction = new TargetCompaction("dr", clusters.target(), null, 30);
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            puts(mirror, 1);
            new TargetCompaction("dr", clusters.target(), Duration.ofMinutes(1))
                    .compactOrWarn(Instant.now().plus(AGE));
            puts(mirror, 10);
            compaction.compactOrWarn(Instant.now().plus(Duration.ofHours(25)));
            assertThat(compaction.warning()).as("too little to speak of").isNull();
            puts(mirror, 40);
            compaction.compactOrWarn(Instant.now());
            assertThat(compaction.warning()).as("too young").isNull();
            compaction.compactOrWarn(Instant.now().plus(Duration.ofHours(25)));
            assertThat(compaction.warning()).contains("target history is not compacted", "compactTarget");
        }
    }

    /** One after the other, so that each is a transaction of the target. */
    private void puts(MirrorProcess mirror, int count) {
        for (int i = 0; i < count; i++) {
            source.put("k" + i, "v");
            awaitCaughtUp(mirror, source);
        }
    }
}
