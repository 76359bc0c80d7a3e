package io.understudy.cluster.observe;

import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Measures how long counters of members have not changed. Counters are cumulative: an unchanged one proves that nothing
 * happened between two pages, however many pages in between are missing. Thread-safe.
 */
final class Growth {

    private static final Duration FSYNC_WINDOW = Duration.ofSeconds(10);
    private static final int LEAST_FSYNCS = 5;

    private enum Counter {
        RECEIVED,
        MATCH
    }

    private record Key(MemberId member, MemberId peer, Counter counter) {}

    /**
     * A value of one process.
     *
     * @param since when it had been read first, by {@link System#nanoTime}
     */
    private record Sample(Optional<Instant> process, double value, long since) {}

    private record Disk(MetricsPage.Fsyncs fsyncs, long since, Optional<Duration> mean) {}

    private final Map<Key, Sample> samples = new HashMap<>();
    private final Map<MemberId, Disk> disks = new HashMap<>();

    /**
     * Adds the measurements to the facts of an observation.
     *
     * @param pages of this observation
     */
    synchronized ClusterFacts measured(ClusterFacts facts, Map<MemberId, ProbeReply.Page> pages) {
        samples.keySet()
                .removeIf(key -> facts.member(key.member()).isEmpty()
                        || facts.member(key.peer()).isEmpty());
        disks.keySet().removeIf(member -> facts.member(member).isEmpty());
        return facts.withMembers(facts.members().stream()
                .map(member -> {
                    ProbeReply.Page page = pages.getOrDefault(member.id(), ProbeReply.Page.NONE);
                    return page.metrics().isEmpty() ? member : member.withMeasurements(measured(facts, member, page));
                })
                .toList());
    }

    private Measurements measured(ClusterFacts facts, MemberFacts member, ProbeReply.Page page) {
        Optional<Instant> process = page.metrics().startedAt();
        Map<MemberId, Double> received = page.metrics().received();
        Map<MemberId, Duration> silence = new HashMap<>();
        Map<MemberId, Duration> stalled = new HashMap<>();
        for (MemberFacts peer : facts.members()) {
            MemberId id = peer.id();
            // A counter without a line has not been incremented by this process.
            Sample bytes = new Sample(process, received.getOrDefault(id, 0.0), page.arrived());
            unchanged(new Key(member.id(), id, Counter.RECEIVED), bytes, page.sent())
                    .ifPresent(duration -> silence.put(id, duration));
            Key match = new Key(member.id(), id, Counter.MATCH);
            Long behind = page.behind().get(id);
            if (behind == null || !peer.hasStarted()) {
                samples.remove(match);
            } else {
                unchanged(match, new Sample(process, behind, page.arrived()), page.sent())
                        .ifPresent(duration -> stalled.put(id, duration));
            }
        }
        silence.remove(member.id());
        return new Measurements(
                silence,
                stalled,
                fsync(member.id(), page, page.arrived()),
                member.measurements().refuses());
    }

    /** Returns the time without growth; empty for the first sample of a process. */
    private Optional<Duration> unchanged(Key key, Sample now, long sent) {
        Sample before = samples.get(key);
        if (before == null || !before.process().equals(now.process())) {
            samples.put(key, now);
            return Optional.empty();
        }
        if (before.value() != now.value()) {
            samples.put(key, now);
            return Optional.of(Duration.ZERO);
        }
        return Optional.of(Duration.ofNanos(Math.max(0, sent - before.since())));
    }

    private Optional<Duration> fsync(MemberId member, ProbeReply.Page page, long now) {
        Optional<MetricsPage.Fsyncs> fsyncs = page.metrics().fsyncs();
        if (fsyncs.isEmpty()) {
            return Optional.empty();
        }
        Disk before = disks.get(member);
        if (before == null || before.fsyncs().count() > fsyncs.get().count()) {
            disks.put(member, new Disk(fsyncs.get(), now, Optional.empty()));
            return Optional.empty();
        }
        double count = fsyncs.get().count() - before.fsyncs().count();
        if (now - before.since() < FSYNC_WINDOW.toNanos() || (count > 0 && count < LEAST_FSYNCS)) {
            return before.mean();
        }
        if (count == 0) {
            disks.put(member, new Disk(fsyncs.get(), now, Optional.empty()));
            return Optional.empty();
        }
        double seconds = (fsyncs.get().seconds() - before.fsyncs().seconds()) / count;
        Optional<Duration> mean = Optional.of(
                Duration.ofNanos((long) (seconds * Duration.ofSeconds(1).toNanos())));
        disks.put(member, new Disk(fsyncs.get(), now, mean));
        return mean;
    }
}
