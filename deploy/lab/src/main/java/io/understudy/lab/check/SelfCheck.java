package io.understudy.lab.check;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.plan.LabStep;
import io.understudy.lab.plan.StartPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Puts a key at a voter and deletes it, and awaits both at every viewpoint. */
public final class SelfCheck {

    /** The row of the table with the time of the voter's own acknowledgement. */
    public static final String ACKNOWLEDGED = "acknowledged by a voter";

    private static final String PREFIX = "understudy-lab-check/";
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    private final EtcdSettings voter;
    private final List<Viewpoint> viewpoints;

    /**
     * Creates a check.
     *
     * @param voter its endpoints and login
     * @param viewpoints the caller closes them
     */
    public SelfCheck(EtcdSettings voter, List<Viewpoint> viewpoints) {
        this.voter = voter;
        this.viewpoints = List.copyOf(viewpoints);
    }

    /**
     * Runs two rounds and returns the second, since servers first load code. Both must succeed.
     *
     * @return the acknowledgement, then each viewpoint in order
     * @throws LabException a viewpoint does not show the write or the deletion in time, or the voter refuses it
     * @throws NoSpaceException the voter refuses it because the cluster takes no puts
     */
    public List<WriteVisibility> run() throws Exception {
        try (EtcdClient client = new EtcdClient(voter)) {
            everywhere(viewpoint -> viewpoint.connect(DEADLINE));
            round(client);
            return round(client);
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

    private Map<String, Duration> timed(ByteString key, @Nullable ByteString value, Runnable change) throws Exception {
        Map<String, Duration> seen = new ConcurrentHashMap<>();
        long sent = System.nanoTime();
        try {
            change.run();
        } catch (StatusRuntimeException e) {
            if (isForWantOfSpace(e.getStatus())) {
                throw new NoSpaceException(e);
            }
            throw new LabException(
                    "the voting member at " + voter.seeds().get(0) + " rejected the write of the self-check: "
                            + EtcdClient.text(e.getStatus()),
                    e);
        }
        seen.put(ACKNOWLEDGED, Duration.ofNanos(System.nanoTime() - sent));
        everywhere(viewpoint -> {
            viewpoint.await(key, value, DEADLINE);
            seen.put(viewpoint.name(), Duration.ofNanos(System.nanoTime() - sent));
        });
        return seen;
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
}
