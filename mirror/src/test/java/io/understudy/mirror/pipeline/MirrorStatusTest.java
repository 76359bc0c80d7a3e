package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What a mirror shows follows from what it last heard, whoever told. */
final class MirrorStatusTest {

    private final MirrorStatus status = new MirrorStatus("dr", "source", "target", new SimpleMeterRegistry());

    @Test
    void isNoLongerRetryingOnceAnythingIsWritten_thoughWhoFailedNeverTells() {
        status.to(MirrorState.SYNCING, "snapshot");
        status.unavailable("a lane that is given up after this");
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        status.written(1);
        assertThat(status.state()).isEqualTo(MirrorState.SYNCING);
    }

    @Test
    void tellsWhatIsInTheWayNow_notWhatWasFirst() {
        status.unavailable("it doesn't answer");
        status.unavailable("it is full");
        assertThat(status.report().reason()).isEqualTo("it is full");
    }

    @Test
    void whatHappensWhileItRetriesShowsOnceItIsAnswered() {
        status.unavailable("the source's member is away");
        status.to(MirrorState.SYNCED, "complete");
        assertThat(status.state()).isEqualTo(MirrorState.RETRYING);
        status.available();
        assertThat(status.state()).isEqualTo(MirrorState.SYNCED);
    }

    @Test
    void warnsOnceForEachStateOfAClusterThatIsSilentForMoreThanAMoment() {
        Logger logger = (Logger) LoggerFactory.getLogger(MirrorStatus.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            Instant later = Instant.now().plusSeconds(6);
            status.waitsFor("the source, source");
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
                    .contains("starting", "waiting for the source, source: its certificate is not trusted");

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
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
