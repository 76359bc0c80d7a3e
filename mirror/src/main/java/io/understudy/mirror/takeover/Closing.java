package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmResponse;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Grant;
import io.understudy.mirror.home.Move.Way;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes a cluster to client writes in a range, and opens it again. The mirror's user can write while the cluster is closed.
 * Each method can be repeated after a failure at any request.
 *
 * <p>Invariant M14: permissions revoked by a switchover in one cluster are not revoked in its mirrors, and not granted again
 * by them.
 *
 * @param name of the mirror
 * @param ranges of the mirrored keys, as the cluster names them
 * @param exempt users that may write while the cluster is closed: of the mirror, and of the command
 * @param mirror the mirror's user and password at the cluster; null for none
 */
record Closing(
        String name,
        TakeOverCalls cluster,
        List<KeyRange> ranges,
        Set<String> exempt,
        @Nullable Credentials mirror) {
    private static final int NOSPACE = 1;

    /** {@code AlarmType.CORRUPT}; jetcd's messages lack it. */
    private static final int CORRUPT = 2;

    Closing {
        ranges = List.copyOf(ranges);
        exempt = Set.copyOf(exempt);
    }

    private ClosedRanges keys() {
        return new ClosedRanges(ranges);
    }

    private RoleChanges roles() {
        return new RoleChanges(cluster);
    }

    OtherMirrors others() {
        return OtherMirrors.of(cluster, name);
    }

    ClosingUsers users() {
        return new ClosingUsers(cluster, exempt, mirror, keys());
    }

    /** Refuses a planned move; a primary that is lost or was replaced is closed as far as possible. */
    void requireSpace() {
        if (isRaised(NOSPACE, alarm(AlarmAction.GET, 0))) {
            throw new TakeOverException(cluster.shown()
                    + " has a NOSPACE alarm, under which etcd 3.5 does not reject deletes: free space, defragment and disarm"
                    + " the alarm first, or use --allow-loss");
        }
    }

    /**
     * What {@link #close} changes. Only reads. Where another mirror has closed the cluster by authentication, this one does
     * so too, whatever is selected: there are no roles of clients. Beside a record that is not readable, it can be closed,
     * but not opened: see {@link OtherMirrors#requireReadable}. Not by authentication that is enabled: that mirror may have done so.
     *
     * @throws TakeOverException the cluster cannot be closed that way
     */
    Closed prepare(Way way) {
        if (way == Way.NONE) {
            return new Closed(way, 0, List.of());
        }
        boolean hasAuth = cluster.isAuthEnabled();
        List<Home> others = (way == Way.ROLES || !hasAuth ? others() : others().requireReadable())
                .by(Way.CORRUPT_ALARM, Way.AUTH_ENABLE);
        if (way == Way.ROLES && !hasAuth) {
            throw new TakeOverException("authentication is not enabled at " + cluster.shown()
                    + ", so --close roles is not possible; use --close corrupt-alarm, --close auth-enable or"
                    + " --allow-loss");
        }
        if (hasAuth && others.isEmpty()) {
            if (way != Way.ROLES) {
                throw new TakeOverException("authentication is enabled at " + cluster.shown() + ": use --close roles");
            }
            users().requireExempt();
            return new Closed(way, 0, users().writable());
        }
        requireNoOtherUsers(others);
        AlarmResponse alarms = alarm(AlarmAction.GET, 0);
        if (isRaised(CORRUPT, alarms)) {
            throw new TakeOverException(cluster.shown() + " has a CORRUPT alarm: "
                    + (others.isEmpty()
                            ? "check its data first"
                            : "complete the move of its primary role, or its rejoin, first: "
                                    + OtherMirrors.names(others)));
        }
        return way == Way.CORRUPT_ALARM && !hasAuth
                ? new Closed(way, alarms.getHeader().getMemberId(), List.of())
                : new Closed(Way.AUTH_ENABLE, 0, List.of());
    }

    /** @param closed records of mirrors that have closed the cluster */
    private void requireNoOtherUsers(List<Home> closed) {
        var unused = users().requireOwnLogin();
        List<String> others = users().others();
        if (!others.isEmpty()) {
            throw new TakeOverException(users().shown(others) + ". They could log in; delete them first"
                    + (closed.isEmpty()
                            ? ""
                            : ", or run \"understudy mirror release\" of a mirror that has closed it and is not in use: "
                                    + OtherMirrors.names(closed)));
        }
    }

    /** Refuses users that could write although it is closed: they may have been added since a killed command prepared. */
    void requireNoWriters(Way way) {
        switch (way) {
            case NONE -> {}
            case ROLES -> users().requireExempt();
            case CORRUPT_ALARM, AUTH_ENABLE -> requireNoOtherUsers(others().by(Way.CORRUPT_ALARM, Way.AUTH_ENABLE));
        }
    }

    /** Refuses an opening that disables authentication for which an operator has added users. */
    void requireNoUsersToOpen(Way way) {
        if ((way == Way.CORRUPT_ALARM || way == Way.AUTH_ENABLE)
                && cluster.isAuthEnabled()
                && others().requireReadable().closed().isEmpty()) {
            List<String> others = users().others();
            if (!others.isEmpty()) {
                throw new TakeOverException(users().shown(others) + ". An operator may have enabled authentication:"
                        + " delete them, or disable it, and run the command again");
            }
        }
    }

    /** What closed it, with roles that were granted write access since. */
    Closed extended(Closed closed) {
        if (closed.way() != Way.ROLES) {
            return closed;
        }
        Set<String> recorded = ClosedRanges.byRole(closed).keySet();
        List<Grant> grants = new ArrayList<>(closed.grants());
        users().writable().stream()
                .filter(each -> !recorded.contains(each.role()))
                .forEach(grants::add);
        return new Closed(Way.ROLES, 0, grants);
    }

    /**
     * Closes it; when this returns, no client write to the range that has not been acknowledged will be. If another command
     * opens a part meanwhile and closes it again, {@link Direction.Comparer#hasWrites} finds what clients wrote.
     *
     * @param closed by {@link #prepare}
     */
    void close(Closed closed) {
        switch (closed.way()) {
            case NONE -> {}
            case ROLES -> {
                // What stays writable is granted before the rest is revoked. A mirror with a record that is not
                // readable may have revoked what a role lacks.
                Map<String, List<Grant>> before = ClosedRanges.byRole(closed);
                var unused = become(this::others, others -> roles().changes(
                                others.unreadable() == null ? before : Map.of(),
                                before.keySet(),
                                present -> keys().narrowed(others.byRoles().narrowed(present))));
                requireAuth();
            }
            case CORRUPT_ALARM -> {
                // Before, since it takes a while; users change nothing as long as authentication is off.
                if (!cluster.isAuthEnabled()) {
                    users().addUsers();
                }
                var unused = alarm(AlarmAction.ACTIVATE, closed.alarmMember());
                requireRaised();
            }
            case AUTH_ENABLE -> enableAuth();
        }
    }

    /**
     * Refuses keep-alives, which pass under an alarm. A client that stays connected would hold its locks here, and others
     * there. To be called before the role moves: it must be closed still.
     */
    void refuseKeepAlives(Closed closed) {
        switch (closed.way()) {
            case NONE -> {}
            case ROLES -> {
                // The closing of another mirror at the same time may have granted more.
                requireNarrow();
                requireAuth();
            }
            case CORRUPT_ALARM -> {
                if (!cluster.isAuthEnabled()) {
                    cluster.enableAuth();
                }
                requireRaised();
            }
            case AUTH_ENABLE -> requireAuth();
        }
    }

    /** Without it etcd checks no permission. A command that is resumed has not prepared. */
    private void requireAuth() {
        if (!cluster.isAuthEnabled()) {
            throw new TakeOverException("authentication was disabled at " + cluster.shown()
                    + " meanwhile; enable it and run the command again");
        }
    }

    private void requireNarrow() {
        List<Grant> left = users().writable();
        if (!left.isEmpty()) {
            throw new TakeOverException("role " + left.get(0).role() + " at " + cluster.shown()
                    + " was granted write access meanwhile; run the command again");
        }
    }

    private void requireRaised() {
        if (!isRaised(CORRUPT, alarm(AlarmAction.GET, 0))) {
            throw new TakeOverException("the CORRUPT alarm at " + cluster.shown() + " was disarmed meanwhile");
        }
    }

    /**
     * Permits the mirror's writes, while clients are still rejected; to be called once the role has moved.
     *
     * @return how it is closed then
     */
    Closed settle(Closed closed) {
        if (closed.way() != Way.CORRUPT_ALARM) {
            return closed;
        }
        enableAuth();
        var unused = alarm(AlarmAction.DEACTIVATE, closed.alarmMember());
        return new Closed(Way.AUTH_ENABLE, 0, List.of());
    }

    /**
     * Whether clients cannot write the range. Not under a NOSPACE alarm: when etcd 3.5 raises it, for a put of any client, it
     * drops its checks of permissions and of CORRUPT, and deletes pass.
     */
    boolean isClosed(Closed closed) {
        return closed.way() != Way.NONE && !isRaised(NOSPACE, alarm(AlarmAction.GET, 0)) && refusesWrites(closed);
    }

    /** Likewise, whatever such an alarm lets pass. */
    boolean refusesWrites(Closed closed) {
        return switch (closed.way()) {
            case NONE -> false;
            case ROLES -> cluster.isAuthEnabled() && users().writable().isEmpty();
            case CORRUPT_ALARM -> isRaised(CORRUPT, alarm(AlarmAction.GET, 0)) || cluster.isAuthEnabled();
            case AUTH_ENABLE -> cluster.isAuthEnabled();
        };
    }

    /** Whether nothing of it is closed: a command was killed before. */
    boolean isOpen(Closed closed) {
        return switch (closed.way()) {
            case NONE -> true;
            case ROLES -> {
                Map<String, List<Grant>> before = ClosedRanges.byRole(closed);
                Map<String, List<Grant>> present = roles().grants(cluster.roles().stream()
                        .filter(before::containsKey)
                        .toList());
                yield before.entrySet().stream()
                        .allMatch(role -> ClosedRanges.isPermitted(
                                keys().inside(role.getValue()), present.getOrDefault(role.getKey(), List.of())));
            }
            case CORRUPT_ALARM, AUTH_ENABLE -> !refusesWrites(closed);
        };
    }

    /**
     * Opens it. Authentication and an alarm that other mirrors have closed it by stay: the last one opens it.
     *
     * @param closed null if it is not
     * @return what keeps it closed; empty if it is open
     * @throws TakeOverException it is not open for another reason
     */
    Optional<String> open(@Nullable Closed closed) {
        if (closed == null) {
            return Optional.empty();
        }
        return switch (closed.way()) {
            case NONE -> Optional.empty();
            case ROLES -> {
                Map<String, List<Grant>> before = ClosedRanges.byRole(closed);
                List<String> roles =
                        cluster.roles().stream().filter(before::containsKey).toList();
                ClosedRanges others = become(() -> others().requireReadable(), each -> roles().changes(
                                before, roles, each.byRoles()::narrowed));
                roles().grants(roles)
                        .forEach((role, present) -> requireOpen(
                                ClosedRanges.isPermitted(keys().inside(before.getOrDefault(role, List.of())), present),
                                "role " + role + " lacks permissions"
                                        + (!keys().intersects(others)
                                                ? ""
                                                : ", and another mirror has closed the same keys there")));
                yield Optional.empty();
            }
            case CORRUPT_ALARM, AUTH_ENABLE -> {
                OtherMirrors others = others().requireReadable();
                if (closed.way() == Way.CORRUPT_ALARM
                        && others.by(Way.CORRUPT_ALARM).stream()
                                .noneMatch(each -> OtherMirrors.alarmMember(each) == closed.alarmMember())
                        && isRaised(CORRUPT, alarm(AlarmAction.GET, 0))) {
                    var unused = alarm(AlarmAction.DEACTIVATE, closed.alarmMember());
                }
                if (others.closed().isEmpty() && cluster.isAuthEnabled()) {
                    cluster.disableAuth();
                    others = others().requireReadable();
                    if (!others.closed().isEmpty()) {
                        // It began meanwhile, and may have found authentication enabled.
                        enableAuth();
                    }
                }
                if (others.closed().isEmpty()) {
                    requireOpen(!refusesWrites(closed), "it has an alarm or authentication");
                    yield Optional.empty();
                }
                yield Optional.of(cluster.shown() + " stays closed to clients, since other mirrors have closed it too: "
                        + OtherMirrors.names(others.closed())
                        + ". The last one opens it, by a failback, undo or release");
            }
        };
    }

    /**
     * Likewise, and stores that in between: of two mirrors that open it at the same time, each may find it closed by the
     * other at first.
     */
    Optional<String> open(@Nullable Closed closed, Runnable stored) {
        Optional<String> kept = open(closed);
        stored.run();
        return kept.isEmpty() ? kept : open(closed);
    }

    private void requireOpen(boolean isOpen, String otherwise) {
        if (!isOpen) {
            throw new TakeOverException(cluster.shown() + " is still closed: " + otherwise
                    + " although this command has changed that; run it again");
        }
    }

    private void enableAuth() {
        if (!cluster.isAuthEnabled()) {
            users().addUsers();
            cluster.enableAuth();
        }
    }

    /**
     * Changes permissions. Does so once more if another mirror has begun to close the cluster meanwhile: a grant may have
     * undone that.
     *
     * @param read what other mirrors keep closed
     * @param changes given that
     * @return what they keep closed
     */
    private ClosedRanges become(
            Supplier<OtherMirrors> read, Function<OtherMirrors, List<RoleChanges.RoleChange>> changes) {
        while (true) {
            OtherMirrors found = read.get();
            roles().apply(changes.apply(found));
            ClosedRanges others = found.byRoles();
            if (read.get().byRoles().equals(others)) {
                return others;
            }
        }
    }

    private static boolean isRaised(int type, AlarmResponse alarms) {
        return alarms.getAlarmsList().stream().anyMatch(each -> each.getAlarmValue() == type);
    }

    private AlarmResponse alarm(AlarmAction action, long member) {
        return cluster.alarm(AlarmRequest.newBuilder()
                .setAction(action)
                .setMemberID(member)
                .setAlarmValue(action == AlarmAction.GET ? 0 : CORRUPT)
                .build());
    }
}
