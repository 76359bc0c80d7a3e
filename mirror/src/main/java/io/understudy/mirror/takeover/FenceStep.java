package io.understudy.mirror.takeover;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.etcd.EtcdSink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Takes the mirror over, as another mirror would, so that the one that runs can't write any more. */
record FenceStep(Parties parties, Duration patience) implements Step {

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "fence",
                "raises the epoch in " + parties.target().shown() + " and becomes the mirror's active process: no other"
                        + " one can write",
                "the quorum of " + parties.to(),
                "lets the mirror's processes be active again");
    }

    @Override
    public boolean isDone(Journal journal) {
        return journal.fencedAt() > 0 && isOurs(journal);
    }

    @Override
    public boolean isBegun(Journal journal) {
        return journal.has("fence") || new ActiveKey(parties).isHeldBy(journal.writer());
    }

    @Override
    public Journal perform(Journal journal) {
        if (!new ActiveKey(parties).take(journal.writer(), JournalStore.holds(parties.mirror(), journal))) {
            throw JournalStore.writtenMeanwhile(parties);
        }
        Checkpoint taken =
                TargetCheckpoint.read(parties.target(), parties.mirror()).checkpoint();
        if (!taken.writer().equals(journal.writer())) {
            taken = takenOver(journal.writer());
        }
        return journal.edit().fenced(taken.revision().value(), taken.at()).build();
    }

    @Override
    public Journal undo(Journal journal) {
        new ActiveKey(parties).release(journal.writer());
        return journal.edit().fenced(0, null).build();
    }

    private boolean isOurs(Journal journal) {
        return TargetCheckpoint.read(parties.target(), parties.mirror())
                .checkpoint()
                .writer()
                .equals(journal.writer());
    }

    private Checkpoint takenOver(String writer) {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (EtcdSink sink = new EtcdSink(
                parties.mirror(), parties.scope(), writer, parties.target().cluster(), parties.sink(), new Silent())) {
            Future<?> opening = thread.submit(sink::open);
            opening.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            Checkpoint taken = sink.checkpoint();
            if (taken == null) {
                throw new TakeOverException("the checkpoint of mirror " + parties.mirror() + " in "
                        + parties.target().shown() + " is gone");
            }
            return taken;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while taking the mirror over", e);
        } catch (TimeoutException e) {
            throw new TakeOverException(
                    parties.target().shown() + " could not be fenced within " + patience.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            String why =
                    e.getCause() instanceof SinkException refused ? String.valueOf(refused.getMessage()) : e.toString();
            throw new TakeOverException("the mirror could not be taken over: " + why, e);
        } finally {
            thread.shutdownNow();
        }
    }

    /** What a mirror would show of it. */
    private static final class Silent implements SinkListener {

        @Override
        public void unavailable(String why) {
            // The deadline decides.
        }

        @Override
        public void available() {
            // Nor does this matter.
        }

        @Override
        public void written(long changes) {
            // One write, which is in the journal.
        }
    }
}
