package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Grant;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
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

    private static final String ROOT = "root";
    private static final int NOSPACE = 1;

    /** {@code AlarmType.CORRUPT}; jetcd's messages lack it. */
    private static final int CORRUPT = 2;

    private static final int PASSWORD_BYTES = 24;

    Closing {
        ranges = List.copyOf(ranges);
        exempt = Set.copyOf(exempt);
    }

    /** Refuses a planned move; a primary that is lost or was replaced is closed as far as possible. */
    void requireSpace() {
        if (isRaised(NOSPACE, alarm(AlarmAction.GET, 0))) {
            throw new TakeOverException(cluster.shown()
                    + " has a NOSPACE alarm, under which etcd 3.5 does not reject deletes: free space, defragment and disarm"
                    + " the alarm first, or use --allow-loss");
        }
    }

    /** Refuses a move to a cluster that could not be opened afterwards, since a record of another mirror is not readable. */
    void requireReadable() {
        var unused = others();
    }

    /**
     * What {@link #close} changes. Only reads. Where another mirror has closed the cluster by authentication, this one does
     * so too, whatever is selected: there are no roles of clients. Beside a record that is not readable, it can be closed,
     * but not opened: see {@link #requireReadable}. Not by authentication that is enabled: that mirror may have done so.
     *
     * @throws TakeOverException the cluster cannot be closed that way
     */
    Closed prepare(Way way) {
        if (way == Way.NONE) {
            return new Closed(way, 0, List.of());
        }
        boolean hasAuth = cluster.isAuthEnabled();
        List<Home> others =
                (way == Way.ROLES || !hasAuth ? readable() : others()).by(Way.CORRUPT_ALARM, Way.AUTH_ENABLE);
        if (way == Way.ROLES && !hasAuth) {
            throw new TakeOverException("authentication is not enabled at " + cluster.shown()
                    + ", so --close roles is not possible; use --close corrupt-alarm, --close auth-enable or"
                    + " --allow-loss");
        }
        if (hasAuth && others.isEmpty()) {
            if (way != Way.ROLES) {
                throw new TakeOverException("authentication is enabled at " + cluster.shown() + ": use --close roles");
            }
            requireExempt();
            return new Closed(way, 0, writable());
        }
        requireNoOtherUsers(others);
        AlarmResponse alarms = alarm(AlarmAction.GET, 0);
        if (isRaised(CORRUPT, alarms)) {
            throw new TakeOverException(cluster.shown() + " has a CORRUPT alarm: "
                    + (others.isEmpty()
                            ? "check its data first"
                            : "complete the move of its primary role, or its rejoin, first: " + names(others)));
        }
        return way == Way.CORRUPT_ALARM && !hasAuth
                ? new Closed(way, alarms.getHeader().getMemberId(), List.of())
                : new Closed(Way.AUTH_ENABLE, 0, List.of());
    }

    /** The mirror's, without which it could not write while clients cannot. */
    Credentials requireLogin() {
        Credentials login = mirror;
        if (login == null) {
            throw new TakeOverException("the mirror has no user at " + cluster.shown()
                    + ": set user and password of this cluster in the mirror's configuration, so that the mirror can"
                    + " write while clients cannot");
        }
        return login;
    }

    /** Requires the mirror's own user. With authentication enabled, another one could not log in, not even to undo. */
    private Credentials requireOwnLogin() {
        Credentials login = requireLogin();
        Credentials own = cluster.login();
        if (own != null && (!own.user().equals(login.user()) || !own.password().equals(login.password()))) {
            throw new TakeOverException("user " + own.user() + " of this command cannot log in at " + cluster.shown()
                    + " once authentication is enabled there for the mirror's user " + login.user()
                    + " alone: run the command without a user for this cluster (--source-user or --target-user,"
                    + " UNDERSTUDY_SOURCE_USER or UNDERSTUDY_TARGET_USER)");
        }
        return login;
    }

    /** @param closed records of mirrors that have closed the cluster */
    private void requireNoOtherUsers(List<Home> closed) {
        var unused = requireOwnLogin();
        List<String> others = otherUsers();
        if (!others.isEmpty()) {
            throw new TakeOverException(usersShown(others) + ". They could log in; delete them first"
                    + (closed.isEmpty()
                            ? ""
                            : ", or run \"understudy mirror release\" of a mirror that has closed it and is not in use: "
                                    + names(closed)));
        }
    }

    private List<String> otherUsers() {
        Credentials login = mirror;
        return cluster.users().stream()
                .filter(user -> !user.equals(ROOT) && (login == null || !user.equals(login.user())))
                .toList();
    }

    private String usersShown(List<String> others) {
        return cluster.shown() + " has users besides root and the mirror's: " + String.join(", ", others);
    }

    /** Refuses users that could write although it is closed: they may have been added since a killed command prepared. */
    void requireNoWriters(Way way) {
        switch (way) {
            case NONE -> {}
            case ROLES -> requireExempt();
            case CORRUPT_ALARM, AUTH_ENABLE -> requireNoOtherUsers(readable().by(Way.CORRUPT_ALARM, Way.AUTH_ENABLE));
        }
    }

    /** Refuses an opening that disables authentication for which an operator has added users. */
    void requireNoUsersToOpen(Way way) {
        if ((way == Way.CORRUPT_ALARM || way == Way.AUTH_ENABLE)
                && cluster.isAuthEnabled()
                && others().closed().isEmpty()) {
            List<String> others = otherUsers();
            if (!others.isEmpty()) {
                throw new TakeOverException(usersShown(others) + ". An operator may have enabled authentication:"
                        + " delete them, or disable it, and run the command again");
            }
        }
    }

    /** Users with the role root bypass roles; roles that the mirror shares with clients cannot be revoked. */
    void requireExempt() {
        Credentials login = requireLogin();
        Map<String, List<String>> usersOf = usersOf();
        List<String> problems = notExempt(usersOf);
        if (!problems.isEmpty()) {
            throw new TakeOverException(String.join(". ", problems));
        }
        List<String> roles = usersOf.entrySet().stream()
                .filter(role -> role.getValue().contains(login.user()))
                .map(Map.Entry::getKey)
                .toList();
        List<KeyRange> written = grants(
                        roles.stream().filter(role -> !role.equals(ROOT)).toList())
                .values()
                .stream()
                .flatMap(grants -> grants.stream().filter(this::writes))
                .map(grant -> KeyRange.ofEtcd(grant.key(), grant.end()))
                .toList();
        if (!roles.contains(ROOT)
                && !ranges.stream().allMatch(range -> written.stream().anyMatch(each -> each.covers(range)))) {
            throw new TakeOverException("user " + login.user() + " cannot write the mirrored keys at " + cluster.shown()
                    + ": grant its role read and write access to them, so that the mirror can run in both directions");
        }
    }

    /** All that cannot be closed by roles; nothing if the user of the calls may not read users and roles. */
    List<String> problems() {
        try {
            return notExempt(usersOf());
        } catch (TakeOverException e) {
            if (Records.isDenied(e)) {
                return List.of();
            }
            throw e;
        }
    }

    private Map<String, List<String>> usersOf() {
        Map<String, List<String>> usersOf = new LinkedHashMap<>();
        together(cluster.users(), cluster::rolesOf)
                .forEach((user, roles) ->
                        roles.forEach(role -> usersOf.computeIfAbsent(role, unknown -> new ArrayList<>())
                                .add(user)));
        return usersOf;
    }

    private List<String> notExempt(Map<String, List<String>> usersOf) {
        List<String> problems = new ArrayList<>();
        List<String> roots = usersOf.getOrDefault(ROOT, List.of()).stream()
                .filter(user -> !exempt.contains(user))
                .toList();
        if (!roots.isEmpty()) {
            problems.add("users with the role root can write at " + cluster.shown() + " whatever is revoked: "
                    + String.join(", ", roots) + ". Revoke the role root, or run the command as that user");
        }
        List<String> shared = cluster.roles().stream()
                .filter(role -> !role.equals(ROOT))
                .filter(role -> {
                    List<String> users = usersOf.getOrDefault(role, List.of());
                    return users.stream().anyMatch(exempt::contains) && !exempt.containsAll(users);
                })
                .toList();
        grants(shared).forEach((role, grants) -> {
            if (grants.stream().anyMatch(this::writes)) {
                problems.add("role " + role + " at " + cluster.shown() + " is shared by the mirror and clients: "
                        + String.join(", ", usersOf.getOrDefault(role, List.of()))
                        + ". Give the mirror's user a role of its own");
            }
        });
        return problems;
    }

    /** All permissions of each client role that can write the range. */
    private List<Grant> writable() {
        List<List<String>> names = cluster.together(List.of(cluster::users, cluster::roles));
        Set<String> exemptRoles = new HashSet<>(Set.of(ROOT));
        together(names.get(0).stream().filter(exempt::contains).toList(), cluster::rolesOf)
                .values()
                .forEach(exemptRoles::addAll);
        return grants(names.get(1).stream()
                        .filter(role -> !exemptRoles.contains(role))
                        .toList())
                .values()
                .stream()
                .filter(grants -> grants.stream().anyMatch(this::writes))
                .flatMap(List::stream)
                .toList();
    }

    /** Likewise, with roles that were granted write access since it was closed. */
    Closed extended(Closed closed) {
        if (closed.way() != Way.ROLES) {
            return closed;
        }
        Set<String> recorded = byRole(closed).keySet();
        return new Closed(
                Way.ROLES,
                0,
                Stream.concat(
                                closed.grants().stream(),
                                writable().stream().filter(each -> !recorded.contains(each.role())))
                        .toList());
    }

    private boolean writes(Grant grant) {
        KeyRange range = KeyRange.ofEtcd(grant.key(), grant.end());
        return !type(grant).equals(Permission.Type.READ) && isWithin(range);
    }

    /** All permissions of each role. */
    private Map<String, List<Grant>> grants(Collection<String> roles) {
        return together(roles, role -> cluster.permissions(role).stream()
                .map(each -> new Grant(
                        role,
                        each.getKey(),
                        each.getRangeEnd(),
                        each.getPermType().name()))
                .toList());
    }

    /** What each request returns, by its argument. */
    private <T> Map<String, T> together(Collection<String> all, Function<String, T> request) {
        List<T> results = cluster.together(
                all.stream().<Supplier<T>>map(each -> () -> request.apply(each)).toList());
        Map<String, T> byArgument = new LinkedHashMap<>();
        Iterator<T> next = results.iterator();
        all.forEach(each -> byArgument.put(each, next.next()));
        return byArgument;
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
                Map<String, List<Grant>> before = byRole(closed);
                var unused = become(
                        this::readable,
                        others -> changes(
                                others.unreadable() == null ? before : Map.of(),
                                before.keySet(),
                                present -> narrowed(others.byRoles().narrowed(present))));
                requireAuth();
            }
            case CORRUPT_ALARM -> {
                // Before, since it takes a while; users change nothing as long as authentication is off.
                if (!cluster.isAuthEnabled()) {
                    addUsers();
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
        List<Grant> left = writable();
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
            case ROLES -> cluster.isAuthEnabled() && writable().isEmpty();
            case CORRUPT_ALARM -> isRaised(CORRUPT, alarm(AlarmAction.GET, 0)) || cluster.isAuthEnabled();
            case AUTH_ENABLE -> cluster.isAuthEnabled();
        };
    }

    /** Whether nothing of it is closed: a command was killed before. */
    boolean isOpen(Closed closed) {
        return switch (closed.way()) {
            case NONE -> true;
            case ROLES -> {
                Map<String, List<Grant>> before = byRole(closed);
                Map<String, List<Grant>> present = grants(
                        cluster.roles().stream().filter(before::containsKey).toList());
                yield before.entrySet().stream()
                        .allMatch(role ->
                                isPermitted(inside(role.getValue()), present.getOrDefault(role.getKey(), List.of())));
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
                Map<String, List<Grant>> before = byRole(closed);
                List<String> roles =
                        cluster.roles().stream().filter(before::containsKey).toList();
                Closing others = become(this::others, each -> changes(before, roles, each.byRoles()::narrowed));
                grants(roles)
                        .forEach((role, present) -> requireOpen(
                                isPermitted(inside(before.getOrDefault(role, List.of())), present),
                                "role " + role + " lacks permissions"
                                        + (ranges.stream().noneMatch(others::isWithin)
                                                ? ""
                                                : ", and another mirror has closed the same keys there")));
                yield Optional.empty();
            }
            case CORRUPT_ALARM, AUTH_ENABLE -> {
                Others others = others();
                if (closed.way() == Way.CORRUPT_ALARM
                        && others.by(Way.CORRUPT_ALARM).stream()
                                .noneMatch(each -> alarmMember(each) == closed.alarmMember())
                        && isRaised(CORRUPT, alarm(AlarmAction.GET, 0))) {
                    var unused = alarm(AlarmAction.DEACTIVATE, closed.alarmMember());
                }
                if (others.closed().isEmpty() && cluster.isAuthEnabled()) {
                    cluster.disableAuth();
                    others = others();
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
                        + names(others.closed()) + ". The last one opens it, by a failback, undo or release");
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
            addUsers();
            cluster.enableAuth();
        }
    }

    private void addUsers() {
        Credentials login = requireOwnLogin();
        cluster.addRoot(login.user(), login.password());
        if (!login.user().equals(ROOT)) {
            // etcd requires it; its password is not kept.
            byte[] password = new byte[PASSWORD_BYTES];
            new SecureRandom().nextBytes(password);
            cluster.addRoot(ROOT, HexFormat.of().formatHex(password));
        }
    }

    private static Map<String, List<Grant>> byRole(Closed closed) {
        Map<String, List<Grant>> byRole = new LinkedHashMap<>();
        closed.grants().forEach(grant -> byRole.computeIfAbsent(grant.role(), unknown -> new ArrayList<>())
                .add(grant));
        return byRole;
    }

    /** The permissions as they were before, and what others granted since. */
    private static List<Grant> opened(List<Grant> present, List<Grant> before) {
        Map<KeyRange, Grant> wanted = new LinkedHashMap<>();
        before.forEach(each -> add(each, wanted));
        present.stream().filter(each -> !isPermitted(List.of(each), before)).forEach(each -> add(each, wanted));
        return List.copyOf(wanted.values());
    }

    /** Those that have closed the cluster, or are closing it: their commands have other locks. */
    private Others others() {
        Others found = readable();
        if (found.unreadable() != null) {
            throw found.unreadable();
        }
        return found;
    }

    /** Likewise, of those with readable records. */
    private Others readable() {
        RangeResponse records = cluster.range(RangeRequest.newBuilder()
                .setKey(ReservedKeys.HOMES.etcdKey())
                .setRangeEnd(ReservedKeys.HOMES.etcdRangeEnd())
                .build());
        ClusterId here = new ClusterId(records.getHeader().getClusterId());
        List<Home> closed = new ArrayList<>();
        TakeOverException unreadable = null;
        for (KeyValue found : records.getKvsList()) {
            if (found.getKey().equals(ReservedKeys.home(name))) {
                continue;
            }
            try {
                Home other = other(found);
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
        return new Others(this, here, closed, unreadable);
    }

    private Home other(KeyValue found) {
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

    /**
     * Records of other mirrors that keep the cluster closed.
     *
     * @param unreadable what another record failed with; null if all are readable
     */
    private record Others(
            Closing closing,
            ClusterId here,
            List<Home> closed,
            @Nullable TakeOverException unreadable) {
        List<Home> by(Way... ways) {
            return closed.stream()
                    .filter(each -> List.of(ways).contains(way(each)))
                    .toList();
        }

        Closing byRoles() {
            List<KeyRange> ranges = by(Way.ROLES).stream()
                    .flatMap(each -> each.rangesIn(here).stream())
                    .toList();
            return new Closing(closing.name, closing.cluster, ranges, closing.exempt, closing.mirror);
        }
    }

    private static Way way(Home record) {
        Closed how = record.move().closed();
        return how == null ? Way.NONE : how.way();
    }

    private static long alarmMember(Home record) {
        Closed how = record.move().closed();
        return how == null ? 0 : how.alarmMember();
    }

    private static String names(List<Home> records) {
        return String.join(", ", records.stream().map(Home::mirror).toList());
    }

    private boolean isWithin(KeyRange other) {
        return ranges.stream().anyMatch(other::intersects);
    }

    /** Writes to the range. */
    private List<Grant> inside(List<Grant> grants) {
        return grants.stream()
                .filter(this::writes)
                .flatMap(grant -> ranges.stream()
                        .filter(KeyRange.ofEtcd(grant.key(), grant.end())::intersects)
                        .map(KeyRange.ofEtcd(grant.key(), grant.end())::intersection)
                        .map(part -> new Grant(grant.role(), part.etcdKey(), part.etcdRangeEnd(), grant.type())))
                .toList();
    }

    /** Whether each is covered by one of {@code present}. */
    private static boolean isPermitted(List<Grant> grants, List<Grant> present) {
        return grants.stream().allMatch(each -> present.stream()
                .anyMatch(other -> (type(other) == type(each) || type(other) == Permission.Type.READWRITE)
                        && KeyRange.ofEtcd(other.key(), other.end()).covers(KeyRange.ofEtcd(each.key(), each.end()))));
    }

    /** What the permissions of a role become. */
    private record RoleChange(String role, List<Grant> present, List<Grant> wanted) {
        /** Whether a type changes, and etcd may not find the permission: it only looks at the first one of that key. */
        boolean mayAddTwin() {
            return wanted.stream()
                    .anyMatch(each -> isTwin(each, present)
                            && Stream.concat(present.stream(), wanted.stream())
                                            .filter(other -> other.key().equals(each.key()))
                                            .count()
                                    > 2);
        }

        RoleChange twins(List<Grant> now) {
            return new RoleChange(
                    role, now, wanted.stream().filter(each -> isTwin(each, now)).toList());
        }

        List<Grant> granted(boolean write) {
            return wanted.stream()
                    .filter(each -> type(each).equals(Permission.Type.READ) != write && !present.contains(each))
                    .toList();
        }

        List<Grant> revoked() {
            return present.stream()
                    .filter(each -> wanted.stream().noneMatch(other -> isSame(each, other)))
                    .toList();
        }
    }

    /** @param wanted of what they were before and what others granted since */
    private List<RoleChange> changes(
            Map<String, List<Grant>> before, Collection<String> roles, UnaryOperator<List<Grant>> wanted) {
        List<RoleChange> changes = new ArrayList<>();
        grants(roles)
                .forEach((role, present) -> changes.add(new RoleChange(
                        role, present, wanted.apply(opened(present, before.getOrDefault(role, List.of()))))));
        return changes;
    }

    /**
     * Changes permissions. Does so once more if another mirror has begun to close the cluster meanwhile: a grant may have
     * undone that.
     *
     * @param read what other mirrors keep closed
     * @param changes given that
     * @return what they keep closed
     */
    private Closing become(Supplier<Others> read, Function<Others, List<RoleChange>> changes) {
        while (true) {
            Others found = read.get();
            become(changes.apply(found));
            Closing others = found.byRoles();
            if (read.get().byRoles().ranges.equals(others.ranges)) {
                return others;
            }
        }
    }

    /** Widens first, then narrows, then revokes. */
    private void become(List<RoleChange> changes) {
        each(changes, change -> change.granted(true), cluster::grant);
        each(changes, change -> change.granted(false), cluster::grant);
        List<RoleChange> twins = twins(changes);
        each(twins, RoleChange::wanted, (role, permission) -> {
            cluster.revoke(role, permission);
            cluster.grant(role, permission);
        });
        each(changes, RoleChange::revoked, cluster::revoke);
    }

    /**
     * Permissions that etcd added beside one of the same range, instead of changing its type. A revocation removes both.
     * What the role has besides covers them meanwhile, as a rule: the others that started at that key.
     */
    private List<RoleChange> twins(List<RoleChange> changes) {
        Map<String, List<Grant>> now = grants(changes.stream()
                .filter(RoleChange::mayAddTwin)
                .map(RoleChange::role)
                .toList());
        return changes.stream()
                .map(change -> change.twins(now.getOrDefault(change.role(), List.of())))
                .toList();
    }

    private void each(
            List<RoleChange> changes,
            Function<RoleChange, List<Grant>> grants,
            BiConsumer<String, Permission> request) {
        var unused = cluster.together(changes.stream()
                .flatMap(change -> grants.apply(change).stream())
                .<Supplier<Boolean>>map(grant -> () -> {
                    request.accept(grant.role(), permission(grant));
                    return true;
                })
                .toList());
    }

    /** Removes writes to the range from one role's permissions. Reads there and writes elsewhere stay. */
    List<Grant> narrowed(List<Grant> before) {
        Map<KeyRange, Grant> after = new LinkedHashMap<>();
        for (Grant grant : before) {
            if (!writes(grant)) {
                add(grant, after);
                continue;
            }
            if (type(grant) == Permission.Type.READWRITE) {
                add(new Grant(grant.role(), grant.key(), grant.end(), Permission.Type.READ.name()), after);
            }
            for (KeyRange part : outside(KeyRange.ofEtcd(grant.key(), grant.end()))) {
                add(new Grant(grant.role(), part.etcdKey(), part.etcdRangeEnd(), grant.type()), after);
            }
        }
        return List.copyOf(after.values());
    }

    private static void add(Grant grant, Map<KeyRange, Grant> to) {
        to.merge(
                KeyRange.ofEtcd(grant.key(), grant.end()),
                grant,
                (one, other) -> one.type().equals(other.type())
                        ? one
                        : new Grant(one.role(), one.key(), one.end(), Permission.Type.READWRITE.name()));
    }

    /** The parts of {@code range} that are not mirrored. */
    private List<KeyRange> outside(KeyRange range) {
        List<KeyRange> parts = new ArrayList<>();
        ByteString from = range.from();
        for (KeyRange mirrored : ranges.stream()
                .sorted((one, other) -> KeyRange.KEY_ORDER.compare(one.from(), other.from()))
                .toList()) {
            if (!mirrored.intersects(new KeyRange(from, range.to()))) {
                continue;
            }
            if (KeyRange.KEY_ORDER.compare(from, mirrored.from()) < 0) {
                parts.add(new KeyRange(from, mirrored.from()));
            }
            ByteString end = mirrored.to();
            if (end == null || (range.to() != null && KeyRange.KEY_ORDER.compare(end, range.to()) >= 0)) {
                return parts;
            }
            from = end;
        }
        parts.add(new KeyRange(from, range.to()));
        return parts;
    }

    /** Whether there is another permission of its range, with another type. */
    private static boolean isTwin(Grant grant, List<Grant> all) {
        return all.stream().anyMatch(each -> isSame(each, grant) && type(each) != type(grant));
    }

    private static boolean isSame(Grant one, Grant other) {
        return one.key().equals(other.key()) && one.end().equals(other.end());
    }

    private static Permission.Type type(Grant grant) {
        return Permission.Type.valueOf(grant.type());
    }

    private static Permission permission(Grant grant) {
        return Permission.newBuilder()
                .setPermType(type(grant))
                .setKey(grant.key())
                .setRangeEnd(grant.end())
                .build();
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
