package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The shown state follows from the latest report of any source. */
final class MirrorStatusTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final MirrorStatus status = new MirrorStatus("dr", "source", "target", Duration.ofSeconds(9), meters);

    @Test
    void countsAbortedTransactionsAndStrayRecords() {
        status.aborted();
        status.aborted();
        status.stray();
        assertThat(meters.get("understudy.mirror.aborts")
                        .tag("mirror", "dr")
                        .counter()
                        .count())
                .isEqualTo(2);
        assertThat(meters.get("understudy.mirror.strays")
                        .tag("mirror", "dr")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void aWriteEndsRetryingThoughTheFailedCallNeverRecovers() {
        status.to(MirrorState.SYNCING, "snapshot");
        status.unavailable("a lane that is given up after this");
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        status.written(1);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCING);
    }

    @Test
    void theReasonIsTheLatestFailureNotTheFirst() {
        status.unavailable("it doesn't answer");
        status.unavailable("it is full");
        assertThat(status.report().reason()).isEqualTo("it is full");
    }

    @Test
    void aStateSetDuringRetriesIsShownAfterARecovery() {
        status.unavailable("the source's member is away");
        status.to(MirrorState.SYNCED, "complete");
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        status.available();
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
    }

    @Test
    void isTornWhileACommitIsWrittenInParts() {
        Checkpoint before = Checkpoint.first(new ClusterId(1), MirrorScope.all(), "test", START)
                .syncedAt(new Position(new ClusterId(1), new Revision(7), null));
        AtomicReference<Checkpoint> stored = new AtomicReference<>(before);
        status.opened(new PipelineTest.StubSink() {
            @Override
            public FeedStart open() {
                return new Position(new ClusterId(1), new Revision(7), null);
            }

            @Override
            public Checkpoint checkpoint() {
                return stored.get();
            }

            @Override
            public Revision complete() {
                return stored.get().revision();
            }
        });
        status.synced(new Revision(7));
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        stored.set(before.in(CheckpointState.TORN));
        assertThat(status.report().state()).isEqualTo(MirrorState.TORN);
        assertThat(status.report().reason()).startsWith("the commit after revision 7 is written in parts");
        stored.set(before);
        assertThat(status.report().reason()).isEqualTo("following the source from revision 7");
    }

    @Test
    void warnsOncePerStateOfASilentCluster() {
        Logger logger = (Logger) LoggerFactory.getLogger(MirrorStatus.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            Instant later = Instant.now().plusSeconds(6);
            status.waitsForSource(true);
            status.warnOfSilence(later);
            assertThat(logged.list).isEmpty();

            status.sourceSilent("its certificate is not trusted");
            status.warnOfSilence(Instant.now());
            assertThat(logged.list).isEmpty();
            status.warnOfSilence(later);
            status.warnOfSilence(later);
            assertThat(warnings(logged))
                    .singleElement()
                    .asString()
                    .contains("starting", "waiting for source source: its certificate is not trusted");

            status.unavailable("the target doesn't answer");
            status.warnOfSilence(later.plusSeconds(6));
            assertThat(warnings(logged)).hasSize(2).last().asString().contains("retrying", "the target doesn't answer");
        } finally {
            logger.detachAppender(logged);
        }
    }

    private static List<String> warnings(ListAppender<ILoggingEvent> logged) {
        return logged.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(event -> event.getFormattedMessage() + event.getKeyValuePairs())
                .toList();
    }

    @Test
    void theReasonAfterAnOutageIsFollowingTheSource() {
        status.synced(new Revision(3));
        status.unavailable("it doesn't answer");
        status.available();
        assertThat(status.report().reason()).isEqualTo("following the source from revision 3");
    }

    @Test
    void aSilentSourceIsReportedWithTimeAndCauseUntilItResponds() {
        status.synced(new Revision(3));
        answered(0);
        assertThat(status.report().lagRevisions()).hasValue(0);
        unanswered(1);
        look(10);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        look(11);
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        assertThat(status.report().reason())
                .isEqualTo("source source has not responded since 2026-01-01T00:00:01Z: refused");
        assertThat(status.report().lastError()).contains("refused");
        assertThat(status.report().lagRevisions()).isEmpty();
        answered(12);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        assertThat(status.report().reason()).isEqualTo("following the source from revision 3");
        assertThat(status.report().lagRevisions()).hasValue(0);
    }

    @Test
    void commitsProveTheSourceAvailableButLeaveTheLagUnknown() {
        status.synced(new Revision(3));
        answered(0);
        unanswered(1);
        status.sourceResponded();
        unanswered(8);
        look(10);
        assertThat(status.report().lagRevisions()).hasValue(0);
        look(15);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        assertThat(status.report().lagRevisions()).isEmpty();
        answered(16);
        assertThat(status.report().lagRevisions()).hasValue(0);
    }

    @Test
    void aRespondingTargetHidesNoSilentSource() {
        status.synced(new Revision(3));
        unanswered(1);
        look(10);
        status.unavailable("it is full");
        look(11);
        assertThat(status.report().reason()).isEqualTo("it is full");
        status.written(1);
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        assertThat(status.report().reason()).startsWith("source source ");
    }

    @Test
    void aStartingMirrorWaitsForASilentSourceWithoutRetrying() {
        status.waitsForSource(true);
        unanswered(1);
        look(10);
        look(11);
        assertThat(status.state()).isEqualTo(MirrorState.STARTING);
        assertThat(status.report().reason()).isEqualTo("waiting for source source: refused");
    }

    @Test
    void aSuspendedProcessReportsNoSilenceOfTheSource() {
        status.synced(new Revision(3));
        look(0);
        unanswered(1);
        look(61);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        look(70);
        look(71);
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
    }

    @Test
    void anAttemptAtAnUnreachableTargetDoesNotEndRetrying() {
        status.synced(new Revision(3));
        status.unavailable("it doesn't answer");
        Instant since = status.report().since();
        status.active();
        status.waitsFor("target target");
        assertThat(status.report().state()).isEqualTo(MirrorState.RETRYING);
        assertThat(status.report().since()).isEqualTo(since);
        status.available();
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
    }

    @Test
    void showsTheLastResponseOfAnUnreachableTarget() {
        assertThat(status.report().lastTargetResponse()).isNull();
        status.written(1);
        Instant last = status.report().lastTargetResponse();
        assertThat(last).isNotNull();
        status.unavailable("it doesn't answer");
        assertThat(status.report().lastTargetResponse()).isEqualTo(last);
        assertThat(status.report().reason())
                .isEqualTo("it doesn't answer; last response at " + last.truncatedTo(ChronoUnit.SECONDS));
    }

    @Test
    void isNotSyncedWhileItWaitsForASnapshot() {
        status.synced(new Revision(3));
        status.waitsForSource(false);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
        status.waitsForSource(true);
        assertThat(status.state()).isEqualTo(MirrorState.STARTING);
    }

    private void answered(int second) {
        status.sourceQueried(at(second));
        status.sampled(at(second), Revision.ZERO);
    }

    private void unanswered(int second) {
        status.sourceQueried(at(second));
        status.sampled(at(second), null);
        status.sourceSilent("refused");
    }

    private void look(int second) {
        status.checkSource(at(second), null);
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }
}
