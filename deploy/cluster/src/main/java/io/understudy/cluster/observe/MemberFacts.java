package io.understudy.cluster.observe;

import io.understudy.etcd.Role;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One member: its list entry and its response.
 *
 * @param name empty until it has started for the first time
 * @param clientUrls empty until it has started for the first time
 * @param answer empty if it did not respond in time
 * @param measurements changes since earlier observations
 * @param process externally visible state of its process
 */
public record MemberFacts(
        MemberId id,
        String name,
        Role role,
        List<URI> peerUrls,
        List<URI> clientUrls,
        Optional<MemberAnswer> answer,
        Measurements measurements,
        MemberProcess process) {

    /** Creates facts of a member without a visible process. */
    public MemberFacts(
            MemberId id,
            String name,
            Role role,
            List<URI> peerUrls,
            List<URI> clientUrls,
            Optional<MemberAnswer> answer,
            Measurements measurements) {
        this(id, name, role, peerUrls, clientUrls, answer, measurements, MemberProcess.UNSEEN);
    }

    public MemberFacts {
        peerUrls = List.copyOf(peerUrls);
        clientUrls = List.copyOf(clientUrls);
    }

    MemberFacts withMeasurements(Measurements other) {
        return new MemberFacts(id, name, role, peerUrls, clientUrls, answer, other, process);
    }

    /** Returns these facts with another response. */
    public MemberFacts withAnswer(MemberAnswer other) {
        return new MemberFacts(id, name, role, peerUrls, clientUrls, Optional.of(other), measurements, process);
    }

    public boolean isVoter() {
        return role == Role.VOTER;
    }

    public boolean isLearner() {
        return role == Role.LEARNER;
    }

    /** Whether the member has ever started: etcd then lists a name. */
    public boolean hasStarted() {
        return !name.isEmpty();
    }

    /** Whether it responds, has a leader, and reaches the quorum by itself. */
    public boolean isHealthy() {
        return answer.isPresent()
                && answer.get().reachesQuorum()
                && answer.get().leader().isPresent();
    }

    /** Returns the part of the quota that the database file takes, as etcd compares them; empty if unknown. */
    public Optional<Double> databaseFill() {
        return answer.flatMap(now ->
                process.quotaBytes().filter(quota -> quota > 0).map(quota -> (double) now.databaseBytes() / quota));
    }

    /** Returns its name, or its ID until it has one. */
    public String label() {
        return hasStarted() ? name : id.toString();
    }

    /**
     * Measurements of one member over several observations.
     *
     * @param silence time since it last received Raft messages from each other member; empty without two metrics pages, of
     *     which one is of this observation
     * @param stalled time for which a follower's log, as the leader sees it, has been behind the commit index without
     *     progress; measured only on suspicion
     * @param fsync mean duration of a WAL fsync, within the last seconds
     * @param refuses whether its client URLs refuse connections, as after the end of a process
     */
    public record Measurements(
            Map<MemberId, Duration> silence,
            Map<MemberId, Duration> stalled,
            Optional<Duration> fsync,
            boolean refuses) {

        public static final Measurements NONE = new Measurements(Map.of(), Map.of(), Optional.empty(), false);

        /** Longer than several heartbeats, shorter than a usual election timeout of slow networks. */
        public static final Duration RECENT = Duration.ofSeconds(2);

        public Measurements {
            silence = Map.copyOf(silence);
            stalled = Map.copyOf(stalled);
        }

        Measurements refused() {
            return new Measurements(silence, stalled, fsync, true);
        }

        /** Whether Raft messages of that member arrived recently; false if not measured. */
        public boolean hears(MemberId member) {
            Duration since = silence.get(member);
            return since != null && since.compareTo(RECENT) < 0;
        }
    }

    /**
     * The externally visible state of a member's process; empty values are unknown.
     *
     * @param startedAt when it started, by its own clock ({@code process_start_time_seconds} of its metrics)
     * @param clockAhead how far its clock is ahead of ours, as its HTTP answers are dated: to a second, negative if behind
     * @param servesPeers whether something answers at every peer URL that the cluster lists for it
     * @param quotaBytes limit of its database file
     */
    public record MemberProcess(
            Optional<Instant> startedAt,
            Optional<Duration> clockAhead,
            Optional<Boolean> servesPeers,
            Optional<Long> quotaBytes) {

        /** Error of a start time and a clock, each rounded to a second. */
        private static final Duration ROUNDED = Duration.ofSeconds(2);

        public static final MemberProcess UNSEEN =
                new MemberProcess(Optional.empty(), Optional.empty(), Optional.empty());

        /** Creates a state with an unknown quota. */
        public MemberProcess(
                Optional<Instant> startedAt, Optional<Duration> clockAhead, Optional<Boolean> servesPeers) {
            this(startedAt, clockAhead, servesPeers, Optional.empty());
        }

        /** Returns the least time that its clock may have shown at a time of ours. */
        public Instant byItsClock(Instant ours) {
            return ours.plus(clockAhead.orElse(Duration.ZERO)).minus(ROUNDED);
        }
    }
}
