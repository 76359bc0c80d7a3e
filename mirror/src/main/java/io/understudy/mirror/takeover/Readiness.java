package io.understudy.mirror.takeover;

import io.understudy.etcd.Credentials;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Records.Found;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether both clusters of a mirror permit a take-over to its users, and a closed copy still is.
 *
 * @param problems each with its remedy
 * @param note why permissions at the source are not needed; null if they are
 */
public record Readiness(
        Instant checkedAt, List<String> problems, @Nullable String note) {

    public Readiness {
        problems = List.copyOf(problems);
    }

    /**
     * Checks that.
     *
     * @throws TakeOverException a cluster does not respond, or refuses the login
     */
    static Readiness of(Direction forth) {
        Records.Problems source = problems(forth.recordsFrom(), forth.closingFrom());
        Records.Problems target = problems(forth.recordsTo(), forth.closingTo());
        // With such permissions the role cannot have moved, unless they were revoked since.
        boolean isOneWay = source.isReadOnly() && source.epoch() == 0 && target.epoch() == 0;
        List<String> problems = new ArrayList<>(isOneWay ? List.of() : source.all());
        problems.addAll(target.all());
        return new Readiness(
                Instant.now(),
                problems,
                isOneWay
                        ? "switchover and rejoin are not set up, only failover: the mirror's user may not write at "
                                + forth.from().shown() + "; \"understudy config check --connect\" lists the grants"
                        : null);
    }

    /** All at one cluster, found with the mirror's user. */
    static Records.Problems problems(Records records, Closing closing) {
        Credentials login = closing.mirror();
        Records.Problems found = records.problems(login == null ? null : login.user(), closing.ranges());
        List<String> all = new ArrayList<>(found.all());
        // Only root may read all users and roles: a command with another user checks them itself.
        if (closing.cluster().isAuthEnabled()) {
            all.addAll(closing.users().problems());
        }
        try {
            closing.others().requireReadable();
        } catch (TakeOverException e) {
            if (!(e.getCause() instanceof CallFailedException)) {
                all.add(String.valueOf(e.getMessage()));
            } else if (!Records.isDenied(e)) {
                throw e;
            }
        }
        Found stored = found.found();
        if (stored != null) {
            records.unrecorded(stored).ifPresent(all::add);
        }
        if (stored != null && isOpened(stored, closing)) {
            all.add(closing.cluster().shown() + " is a copy that was closed to clients, but they can write the mirrored"
                    + " keys there again, which the mirror overwrites: revoke write access from all roles but the"
                    + " mirror's, or enable authentication, as it was; or run \"understudy mirror release\"");
        }
        return new Records.Problems(all, found.isReadOnly(), stored);
    }

    /** Whether a copy has the record of a closed cluster, but accepts client writes. */
    private static boolean isOpened(Found copy, Closing closing) {
        Closed how = copy.move().closed();
        if (how == null || how.way() == Way.NONE || copy.isPrimary()) {
            return false;
        }
        try {
            // A command may have opened it meanwhile.
            return !closing.refusesWrites(how)
                    && new Records(closing.cluster(), copy.mirror()).read().recordRevision() == copy.recordRevision();
        } catch (TakeOverException e) {
            if (Records.isDenied(e)) {
                return false;
            }
            throw e;
        }
    }
}
