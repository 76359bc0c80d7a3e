package io.understudy.bench;

import io.etcd.jetcd.api.RangeRequest;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** One kind of repeated read, and the target for the gateway. */
public enum Work {
    POINT(
            "one key of 256 B, serializable",
            Api.GRPC,
            DataSet.oneKey(true),
            128,
            new Target(ServerPath.LEARNER, 1 / 2.5),
            Target.shown(ServerPath.GRPC_PROXY)),
    POINT_LINEARIZABLE(
            "one key of 256 B, linearizable",
            Api.GRPC,
            DataSet.oneKey(false),
            128,
            new Target(ServerPath.FOLLOWER, 1 / 3.0)),
    PREFIX(
            "1,000 keys of 256 B, serializable",
            Api.GRPC,
            DataSet.prefix(),
            32,
            new Target(ServerPath.LEARNER, 1 / 6.0),
            new Target(ServerPath.GRPC_PROXY, 1)),
    JSON_POINT(
            "one key of 256 B, serializable",
            Api.JSON,
            DataSet.oneKey(true),
            32,
            new Target(ServerPath.LEARNER, 1 / 4.0)),
    JSON_PREFIX(
            "1,000 keys of 256 B, serializable",
            Api.JSON,
            DataSet.prefix(),
            32,
            new Target(ServerPath.LEARNER, 1 / 8.0));

    private final String description;
    private final Api api;
    private final RangeRequest range;
    private final int inFlight;

    @SuppressWarnings("ImmutableEnumChecker") // List.of is
    private final List<Target> targets;

    Work(String description, Api api, RangeRequest range, int inFlight, Target... targets) {
        this.description = description;
        this.api = api;
        this.range = range;
        this.inFlight = inFlight;
        this.targets = List.of(targets);
    }

    String description() {
        return description;
    }

    Api api() {
        return api;
    }

    RangeRequest range() {
        return range;
    }

    /** Requests that wait for their answers at any time. */
    int inFlight() {
        return inFlight;
    }

    boolean isLinearizable() {
        return !range.getSerializable();
    }

    List<Target> targets() {
        return targets;
    }

    /** By which ways it is measured, in turn: the peer that counts, the gateway, other peers. */
    List<ServerPath> paths() {
        List<ServerPath> peers = targets.stream().map(Target::peer).toList();
        return Stream.concat(
                        Stream.of(peers.get(0), ServerPath.GATEWAY),
                        peers.stream().skip(1))
                .toList();
    }

    /** Its name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * A peer with which the gateway is compared.
     *
     * @param atMost goal of the gateway's CPU time per request as a share of the peer's; infinite for none
     */
    record Target(ServerPath peer, double atMost) {

        static Target shown(ServerPath peer) {
            return new Target(peer, Double.POSITIVE_INFINITY);
        }

        Goal cpu() {
            return Goal.atMost(Figure.CPU_PER_REQUEST, peer, atMost);
        }

        /** The goal at equal load. */
        Goal p99() {
            return Goal.atMost(Figure.P99_MILLIS, peer, Double.isInfinite(atMost) ? atMost : 1);
        }
    }
}
