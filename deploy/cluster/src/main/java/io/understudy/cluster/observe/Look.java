package io.understudy.cluster.observe;

import io.understudy.cluster.observe.ClusterFactsBuilder.Found;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One observation of a cluster: its known endpoints, then those in member lists. For one thread, once. */
final class Look {

    /** Time after the requests' deadlines for processing responses. */
    private static final Duration GRACE = Duration.ofMillis(50);

    /** Minimum time for a second read. */
    private static final Duration AGAIN = Duration.ofMillis(500);

    private final EtcdConnections connections;
    private final List<Endpoint> seeds;
    private final @Nullable Found before;
    private final boolean isSuspicious;
    private final long end;
    private final Map<Endpoint, Probe> probes = new LinkedHashMap<>();
    private final Map<Endpoint, CompletableFuture<Listing>> confirmed = new LinkedHashMap<>();
    private final Map<URI, CompletableFuture<Boolean>> peerPorts = new LinkedHashMap<>();

    /**
     * @param before findings of the last observation; null for the first
     * @param isSuspicious whether a member was unhealthy at that time
     */
    Look(
            EtcdConnections connections,
            List<Endpoint> seeds,
            @Nullable Found before,
            boolean isSuspicious,
            Duration patience) {
        this.connections = connections;
        this.seeds = seeds;
        this.before = before;
        this.isSuspicious = isSuspicious;
        this.end = System.nanoTime() + patience.minus(GRACE).toNanos();
    }

    /**
     * All responses within the timeout.
     *
     * @param failures why endpoints have no reply
     * @param differing confirmed member lists that contradict each other
     * @param peerPorts whether each listed peer URL responds
     * @param refusing endpoints that refuse connections
     */
    record Answers(
            List<ProbeReply> replies,
            List<Listing> listings,
            Map<Endpoint, Failure> failures,
            List<Listing> differing,
            Map<URI, Boolean> peerPorts,
            Set<Endpoint> refusing) {}

    Answers take() throws InterruptedException {
        Set<Endpoint> known = new LinkedHashSet<>(seeds);
        if (before != null) {
            known.addAll(before.endpoints());
        }
        known.forEach(this::probe);
        Duration half = left().dividedBy(2);
        known.forEach(endpoint -> confirm(endpoint, half));
        List<CompletableFuture<Listing>> local = known.stream()
                .map(endpoint -> Listing.read(connections, endpoint, false, half))
                .toList();
        await(firstOf(List.copyOf(confirmed.values())));
        await(firstOf(local));
        List<Listing> listings = listings(local);
        boolean encrypted = seeds.get(0).tls();
        listings.stream().flatMap(listing -> listing.endpoints(encrypted)).forEach(endpoint -> {
            probe(endpoint);
            confirm(endpoint, left());
        });
        listings.stream().flatMap(Listing::peerUrls).forEach(this::knock);
        List<Endpoint> listed = listings.stream()
                .filter(Listing::isConfirmed)
                .findFirst()
                .map(listing -> listing.endpoints(encrypted).toList())
                .orElse(List.of());
        await(sufficient(listed));
        await(allOf(peerPorts.values()));
        await(allOf(areAnswered(listed) ? listed.stream().map(confirmed::get).toList() : confirmed.values()));
        if (!agree(succeeded(confirmed.values()))) {
            await(allOf(confirmed.values()));
        }
        List<Listing> differing = differing(succeeded(confirmed.values()));
        // The lists of the given endpoints alone are not enough: none of them may be a member, but a gateway.
        return new Answers(
                replies(),
                differing.isEmpty() ? listings(local) : differing,
                failures(),
                differing,
                doors(),
                refusing());
    }

    private List<Listing> listings(List<CompletableFuture<Listing>> local) {
        return Stream.of(confirmed.values(), local)
                .flatMap(futures -> succeeded(futures).stream())
                .toList();
    }

    /**
     * Completes with the replies of all listed members, or else of all endpoints. A removed member may never reply. The
     * first observation determines whether all endpoints are of one cluster.
     */
    private CompletableFuture<?> sufficient(List<Endpoint> listed) {
        CompletableFuture<?> all =
                allOf(probes.values().stream().map(Probe::whole).toList());
        return CompletableFuture.anyOf(
                all,
                allOf(listed.stream().map(probes::get).map(Probe::whole).toList())
                        .thenCompose(done -> areAnswered(listed) ? CompletableFuture.completedFuture(null) : all));
    }

    private boolean areAnswered(List<Endpoint> listed) {
        return before != null
                && !listed.isEmpty()
                && listed.stream().allMatch(endpoint -> Optional.ofNullable(probes.get(endpoint))
                        .flatMap(Probe::reply)
                        .isPresent());
    }

    private void confirm(Endpoint endpoint, Duration deadline) {
        confirmed.computeIfAbsent(endpoint, each -> Listing.read(connections, each, true, deadline));
    }

    /**
     * Returns differing member lists, each read twice to exclude a concurrent change. The second reads begin after the
     * first have ended, and the ID of a removed member never returns. So a change cannot look the same twice.
     */
    private List<Listing> differing(List<Listing> first) throws InterruptedException {
        if (agree(first)) {
            return List.of();
        }
        Duration deadline = left().compareTo(AGAIN) > 0 ? left() : AGAIN;
        List<CompletableFuture<Listing>> again = first.stream()
                .map(listing -> Listing.read(connections, listing.from(), true, deadline))
                .toList();
        await(allOf(again), deadline.plus(GRACE));
        List<Listing> second = succeeded(again);
        List<Listing> steady = first.stream()
                .filter(listing -> second.stream()
                        .anyMatch(each -> each.from().equals(listing.from()) && each.hasSameMembers(listing)))
                .toList();
        return agree(steady) ? List.of() : steady;
    }

    private static boolean agree(List<Listing> listings) {
        return listings.stream().allMatch(listing -> listing.hasSameMembers(listings.get(0)));
    }

    private void probe(Endpoint endpoint) {
        probes.computeIfAbsent(endpoint, each -> new Probe(connections, each, left(), isSuspicious));
    }

    private void knock(URI peerUrl) {
        peerPorts.computeIfAbsent(peerUrl, each -> PeerPort.answers(connections, each, left()));
    }

    private Map<URI, Boolean> doors() {
        Map<URI, Boolean> doors = new HashMap<>();
        peerPorts.forEach((url, answers) -> doors.put(url, answers.getNow(false)));
        return doors;
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(1, end - System.nanoTime()));
    }

    /** Returns the result, or the other value if it is late. */
    static <T> T within(CompletableFuture<T> future, Duration deadline, T otherwise) throws InterruptedException {
        try {
            return future.get(deadline.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return otherwise;
        }
    }

    private void await(CompletableFuture<?> answers) throws InterruptedException {
        await(answers, left().plus(GRACE));
    }

    private static void await(CompletableFuture<?> answers, Duration patience) throws InterruptedException {
        try {
            answers.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The replies gathered show which endpoint did not respond.
            return;
        }
    }

    private List<ProbeReply> replies() {
        return probes.values().stream().flatMap(probe -> probe.reply().stream()).toList();
    }

    private Map<Endpoint, Failure> failures() {
        Map<Endpoint, Failure> failures = new LinkedHashMap<>();
        probes.forEach((endpoint, probe) -> {
            if (probe.reply().isEmpty()) {
                failures.put(endpoint, probe.failure());
            }
        });
        return failures;
    }

    private Set<Endpoint> refusing() {
        return probes.entrySet().stream()
                .filter(probe -> probe.getValue().isRefused())
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static <T> List<T> succeeded(Collection<CompletableFuture<T>> futures) {
        List<T> answers = new ArrayList<>();
        for (CompletableFuture<T> future : futures) {
            if (future.isDone() && !future.isCompletedExceptionally()) {
                answers.add(future.join());
            }
        }
        return answers;
    }

    /** Completes with the first success, or when all have failed. */
    private static <T> CompletableFuture<?> firstOf(List<CompletableFuture<T>> futures) {
        CompletableFuture<T> first = new CompletableFuture<>();
        for (CompletableFuture<T> future : futures) {
            var unused = future.thenAccept(first::complete);
        }
        return CompletableFuture.anyOf(first, allOf(futures));
    }

    /** Completes when all have completed, successfully or not. */
    private static <T> CompletableFuture<Void> allOf(Collection<CompletableFuture<T>> futures) {
        return CompletableFuture.allOf(futures.stream()
                .map(future -> future.handle((answer, failure) -> answer))
                .toArray(CompletableFuture[]::new));
    }
}
