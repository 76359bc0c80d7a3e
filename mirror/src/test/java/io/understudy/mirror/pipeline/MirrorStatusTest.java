package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

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
}
