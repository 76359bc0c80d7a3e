package io.understudy.mirror.takeover;

import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records of the other mirrors that have closed a cluster, or are closing it: their commands have other locks.
 *
 * @param here the cluster
 * @param unreadable what another record failed with; null if all are readable
 */
record OtherMirrors(
        ClusterId here, List<Home> closed, @Nullable TakeOverException unreadable) {

    OtherMirrors {
        closed = List.copyOf(closed);
    }

    /**
     * Reads them.
     *
     * @param mirror the one that is not another
     */
    static OtherMirrors of(TakeOverCalls cluster, String mirror) {
        RangeResponse records = cluster.range(RangeRequest.newBuilder()
                .setKey(ReservedKeys.HOMES.etcdKey())
                .setRangeEnd(ReservedKeys.HOMES.etcdRangeEnd())
                .build());
        ClusterId here = new ClusterId(records.getHeader().getClusterId());
        List<Home> closed = new ArrayList<>();
        TakeOverException unreadable = null;
        for (KeyValue found : records.getKvsList()) {
            if (found.getKey().equals(ReservedKeys.home(mirror))) {
                continue;
            }
            try {
                Home other = home(cluster, found);
                // A cluster that the role has moved to is about to be opened.
                boolean isOpening =
                        other.move().phase() == Phase.MOVED && other.cluster().equals(here);
                if (way(other) != Way.NONE && !isOpening) {
                    closed.add(other);
                }
            } catch (TakeOverException e) {
                unreadable = e;
            }
        }
        return new OtherMirrors(here, closed, unreadable);
    }

    /** Refuses a record that is not readable: beside it, the cluster could not be opened afterwards. */
    OtherMirrors requireReadable() {
        if (unreadable != null) {
            throw unreadable;
        }
        return this;
    }

    List<Home> by(Way... ways) {
        return closed.stream().filter(each -> List.of(ways).contains(way(each))).toList();
    }

    ClosedRanges byRoles() {
        return new ClosedRanges(by(Way.ROLES).stream()
                .flatMap(each -> each.rangesIn(here).stream())
                .toList());
    }

    private static Home home(TakeOverCalls cluster, KeyValue found) {
        try {
            return Records.decoded(cluster, found);
        } catch (TakeOverException e) {
            throw new TakeOverException(
                    "what another mirror has closed is not known: " + e.getMessage()
                            + ". Use a version that can read key \""
                            + TextFormat.escapeBytes(found.getKey())
                            + "\", or delete it in both clusters if that mirror no longer exists",
                    e);
        }
    }

    private static Way way(Home record) {
        Closed how = record.move().closed();
        return how == null ? Way.NONE : how.way();
    }

    static long alarmMember(Home record) {
        Closed how = record.move().closed();
        return how == null ? 0 : how.alarmMember();
    }

    static String names(List<Home> records) {
        return String.join(", ", records.stream().map(Home::mirror).toList());
    }
}
