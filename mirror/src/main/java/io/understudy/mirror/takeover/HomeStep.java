package io.understudy.mirror.takeover;

import io.understudy.mirror.home.Home;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the target the cluster in which the keys are written: from here on there is no way back but a failback. */
record HomeStep(Parties parties, Journal.Kind kind) implements Step {

    private static final Logger LOG = LoggerFactory.getLogger(HomeStep.class);

    private static final Duration LAST_WORD = Duration.ofSeconds(3);

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "home",
                "makes " + parties.target().shown()
                        + " the home of the keys: the mirror into it waits until they come back",
                "that no other mirror has taken over since the fence",
                "can't be undone; failback moves it back");
    }

    @Override
    public boolean isDone(Journal journal) {
        return new Homes(parties.target(), parties.mirror()).isAt(journal.target());
    }

    @Override
    public Journal perform(Journal journal) {
        TargetCheckpoint found = TargetCheckpoint.read(parties.target(), parties.mirror());
        boolean ours = found.checkpoint().writer().equals(journal.writer());
        Homes here = new Homes(parties.target(), parties.mirror());
        Home home = moved(here, journal);
        if (!ours) {
            throw new TakeOverException("another mirror, " + found.checkpoint().writer()
                    + ", took over after the fence: keep it from being started, and run this again");
        }
        if (!here.moveHere(home, found, journal)) {
            throw JournalStore.writtenMeanwhile(parties);
        }
        if (isToldHere(journal)) {
            tell(home);
        }
        return journal;
    }

    /** The home has moved, whether the source takes that or not: it may be full. */
    private void tell(Home home) {
        try {
            new Homes(parties.source().with(LAST_WORD), parties.mirror()).learn(home);
        } catch (TakeOverException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            LOG.atWarn()
                    .addKeyValue("mirror", parties.mirror())
                    .addKeyValue("cause", e.getMessage())
                    .log("home not stored in the source; a failback stores it");
        }
    }

    /** As far as the present home is known on either side. */
    private Home moved(Homes here, Journal journal) {
        Instant now = Instant.now();
        Optional<Home> there = journal.kind() == Journal.Kind.FAILOVER
                ? Optional.empty()
                : new Homes(parties.source(), parties.mirror()).read();
        return Stream.concat(here.read().stream(), there.stream())
                .max(Comparator.comparingLong(Home::moves))
                .orElseGet(() -> new Home(
                        parties.mirror(),
                        journal.source(),
                        journal.source(),
                        journal.target(),
                        parties.scope(),
                        0,
                        now))
                .movedTo(journal.target(), now);
    }

    /**
     * Under the alarm the source takes no put; failback has it know. What is gone back from knows last of all: as soon as it
     * does its mirror goes on, from wherever the checkpoint is, and who runs the failback again finds nothing to do.
     */
    private boolean isToldHere(Journal journal) {
        return journal.kind() == Journal.Kind.SWITCHOVER && journal.freeze() != FreezeMode.ALARM && !parties.isBack();
    }
}
