package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.home.Move.Grant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Reads the permissions of roles at a cluster and changes them, those of all roles at once where that saves time. */
record RoleChanges(TakeOverCalls cluster) {

    /** What the permissions of a role become. */
    record RoleChange(String role, List<Grant> present, List<Grant> wanted) {
        /** Whether a type changes, and etcd may not find the permission: it only looks at the first one of that key. */
        boolean mayAddTwin() {
            return wanted.stream()
                    .anyMatch(each -> ClosedRanges.isTwin(each, present)
                            && Stream.concat(present.stream(), wanted.stream())
                                            .filter(other -> other.key().equals(each.key()))
                                            .count()
                                    > 2);
        }

        RoleChange twins(List<Grant> now) {
            return new RoleChange(
                    role,
                    now,
                    wanted.stream()
                            .filter(each -> ClosedRanges.isTwin(each, now))
                            .toList());
        }

        List<Grant> granted(boolean write) {
            return wanted.stream()
                    .filter(each ->
                            ClosedRanges.type(each).equals(Permission.Type.READ) != write && !present.contains(each))
                    .toList();
        }

        List<Grant> revoked() {
            return present.stream()
                    .filter(each -> wanted.stream().noneMatch(other -> ClosedRanges.isSame(each, other)))
                    .toList();
        }
    }

    /** All permissions of each role. */
    Map<String, List<Grant>> grants(Collection<String> roles) {
        return cluster.together(roles, role -> cluster.permissions(role).stream()
                .map(each -> new Grant(
                        role,
                        each.getKey(),
                        each.getRangeEnd(),
                        each.getPermType().name()))
                .toList());
    }

    /** @param wanted of what they were before and what others granted since */
    List<RoleChange> changes(
            Map<String, List<Grant>> before, Collection<String> roles, UnaryOperator<List<Grant>> wanted) {
        List<RoleChange> changes = new ArrayList<>();
        grants(roles)
                .forEach((role, present) -> changes.add(new RoleChange(
                        role,
                        present,
                        wanted.apply(ClosedRanges.opened(present, before.getOrDefault(role, List.of()))))));
        return changes;
    }

    /** Widens first, then narrows, then revokes. */
    void apply(List<RoleChange> changes) {
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
                    request.accept(grant.role(), ClosedRanges.permission(grant));
                    return true;
                })
                .toList());
    }
}
