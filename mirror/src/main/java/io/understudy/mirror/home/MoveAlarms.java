package io.understudy.mirror.home;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdErrors;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** CORRUPT alarms that a move of a primary role raised to close a cluster. */
public final class MoveAlarms {

    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private MoveAlarms() {}

    /**
     * Reads the records of moves that the cluster stores.
     *
     * @param endpoints voting members, best first
     * @return the command that raised the alarm of a member, in words
     * @throws IllegalStateException they cannot be read
     */
    public static Map<MemberId, String> read(EtcdConnections connections, List<Endpoint> endpoints)
            throws InterruptedException {
        RangeRequest records = RangeRequest.newBuilder()
                .setKey(ReservedKeys.HOMES.etcdKey())
                .setRangeEnd(ReservedKeys.HOMES.etcdRangeEnd())
                .build();
        String failure = "no voting member responds";
        for (Endpoint endpoint : endpoints) {
            try {
                Map<MemberId, String> moves = new HashMap<>();
                connections
                        .call(endpoint, KVGrpc.getRangeMethod(), records, DEADLINE)
                        .get()
                        .getKvsList()
                        .forEach(found -> add(Home.decode(endpoint.toString(), found.getValue()), moves));
                return moves;
            } catch (ExecutionException e) {
                failure = endpoint + ": " + EtcdErrors.text(e.getCause() == null ? e : e.getCause());
            }
        }
        throw new IllegalStateException("cannot read whether a mirror's command raised the CORRUPT alarm: " + failure);
    }

    static void add(Home record, Map<MemberId, String> moves) {
        Move.Closed closed = record.move().closed();
        if (closed != null && closed.way() == Move.Way.CORRUPT_ALARM) {
            Move.Operation by = record.move().operation();
            moves.put(
                    new MemberId(closed.alarmMember()),
                    by == null
                            ? "a move of mirror " + record.mirror()
                            : by.kind() + " " + by.id() + " of mirror " + record.mirror() + " (process " + by.process()
                                    + ", since " + by.startedAt() + ")");
        }
    }
}
