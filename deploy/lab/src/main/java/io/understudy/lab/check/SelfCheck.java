package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.plan.StartPlan;
import io.understudy.lab.plan.StartPlan.LabStep;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Puts a key at a voter and deletes it, and awaits both at every viewpoint. */
public final class SelfCheck {

    /** The row of the table with the time of the voter's own acknowledgement. */
    public static final String ACKNOWLEDGED = "acknowledged by a voter";

    private static final String PREFIX = "understudy-lab-check/";
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    private final EtcdSettings voter;
    private final String mirror;
    private final List<Viewpoint> viewpoints;

    /**
     * Creates a check.
     *
     * @param voter its endpoints and login
     * @param mirror the mirror out of its cluster
     * @param viewpoints the caller closes them
     */
    public SelfCheck(EtcdSettings voter, String mirror, List<Viewpoint> viewpoints) {
        this.voter = voter;
        this.mirror = mirror;
        this.viewpoints = List.copyOf(viewpoints);
    }

    /**
     * Runs two rounds and returns the second, since servers first load code. Both must succeed.
     *
     * @return the acknowledgement, then each viewpoint in order
     * @throws LabException a viewpoint does not show the write or the deletion in time, or the voter refuses it
     * @throws ClosedCoreException the cluster is full, or is not the open primary of the mirror
     */
    public List<WriteVisibility> run() throws Exception {
        try (EtcdClient client = new EtcdClient(voter)) {
            everywhere(viewpoint -> viewpoint.connect(DEADLINE));
            requireOpenPrimary(client);
            round(client);
            return round(client);
        }
    }

    /** A write to a former primary does not reach the DR cluster. */
    private void requireOpenPrimary(EtcdClient client) throws ClosedCoreException {
        RangeResponse found = answered(() -> client.range(ReservedKeys.home(mirror)));
        for (KeyValue stored : found.getKvsList()) {
            Home record = Home.decode("the core cluster", stored.getValue());
            if (!record.cluster().equals(new ClusterId(found.getHeader().getClusterId()))
                    || record.move().closed() != null) {
                throw new ClosedCoreException(
                        "the core is not the open primary of mirror " + mirror + " (primary: cluster "
                                + record.cluster()
                                + "); run \"understudy mirror failback\", or repeat the unfinished move",
                        null);
            }
        }
    }

    private List<WriteVisibility> round(EtcdClient client) throws Exception {
        ByteString key = ByteString.copyFromUtf8(PREFIX + UUID.randomUUID());
        ByteString value = ByteString.copyFromUtf8("written by the lab");
        Map<String, Duration> writes = timed(key, value, () -> client.put(key, value));
        Map<String, Duration> deletes = timed(key, null, () -> client.delete(key));
        List<WriteVisibility> sightings = new ArrayList<>();
        sightings.add(sighting(ACKNOWLEDGED, writes, deletes));
        viewpoints.forEach(viewpoint -> sightings.add(sighting(viewpoint.name(), writes, deletes)));
        return sightings;
    }

    private static WriteVisibility sighting(String where, Map<String, Duration> writes, Map<String, Duration> deletes) {
        return new WriteVisibility(
                where, writes.getOrDefault(where, Duration.ZERO), deletes.getOrDefault(where, Duration.ZERO));
    }

    private Map<String, Duration> timed(ByteString key, @Nullable ByteString value, Supplier<?> change)
            throws Exception {
        Map<String, Duration> seen = new ConcurrentHashMap<>();
        long sent = System.nanoTime();
        var unused = answered(change);
        seen.put(ACKNOWLEDGED, Duration.ofNanos(System.nanoTime() - sent));
        everywhere(viewpoint -> {
            viewpoint.await(key, value, DEADLINE);
            seen.put(viewpoint.name(), Duration.ofNanos(System.nanoTime() - sent));
        });
        return seen;
    }

    private <T> T answered(Supplier<T> request) throws ClosedCoreException {
        try {
            return request.get();
        } catch (StatusRuntimeException e) {
            if (isForWantOfSpace(e.getStatus())) {
                throw new ClosedCoreException(
                        "the core rejects writes (alarm NOSPACE): it is full. Compact and defragment it, then run"
                                + " \"etcdctl alarm disarm\"; --fresh deletes all data",
                        e);
            }
            throw new LabException(
                    "the voting member at " + voter.seeds().get(0) + " rejected the self-check: "
                            + EtcdClient.text(e.getStatus()),
                    e);
        }
    }

    /** Whether space is exhausted, by the text: too many requests have the same code. */
    private static boolean isForWantOfSpace(Status status) {
        return status.getCode() == Status.Code.RESOURCE_EXHAUSTED
                && String.valueOf(status.getDescription()).contains("database space exceeded");
    }

    private void everywhere(Look look) throws Exception {
        List<LabStep> steps = viewpoints.stream()
                .map(viewpoint -> LabStep.first(viewpoint.name(), () -> look.at(viewpoint)))
                .toList();
        new StartPlan(steps).run();
    }

    @FunctionalInterface
    private interface Look {
        void at(Viewpoint viewpoint) throws InterruptedException;
    }

    /** Signals that clients must not write to the core. The message is for the user, one line. */
    public static final class ClosedCoreException extends Exception {

        ClosedCoreException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The delay until a write is visible at a viewpoint.
     *
     * @param where the viewpoint
     * @param write from sending the put until it was seen
     * @param delete from sending the deletion until it was seen
     */
    public record WriteVisibility(String where, Duration write, Duration delete) {}
}
