package io.understudy.cluster.observe;

import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A member's report on itself ({@code Maintenance.Status}).
 *
 * @param leader its leader
 * @param raftIndex its last committed raft entry
 * @param appliedIndex the last one it applied
 * @param databaseBytes size of its database file
 * @param databaseBytesInUse the part of it that holds data
 * @param reachesQuorum whether it served a linearizable read just now
 * @param errors its alarms and corruptions, in its own words
 * @param storage of its database, since etcd 3.6
 */
public record MemberAnswer(
        EtcdVersion version,
        Optional<MemberId> leader,
        long raftTerm,
        long raftIndex,
        long appliedIndex,
        Revision revision,
        long databaseBytes,
        long databaseBytesInUse,
        boolean reachesQuorum,
        List<String> errors,
        StorageStatus storage) {

    /**
     * Orders members by committed index, the highest last: committed entries are the same for all.
     *
     * <p>The term does not count: a partitioned member campaigns in ever higher terms.
     */
    public static final Comparator<MemberAnswer> BY_COMMITTED =
            Comparator.comparingLong(MemberAnswer::raftIndex).thenComparingLong(MemberAnswer::appliedIndex);

    public MemberAnswer {
        errors = List.copyOf(errors);
    }

    public static MemberAnswer of(StatusResponse status, boolean reachesQuorum) {
        return new MemberAnswer(
                EtcdVersion.parse(status.getVersion()),
                Optional.of(status.getLeader()).filter(leader -> leader != 0).map(MemberId::new),
                status.getRaftTerm(),
                status.getRaftIndex(),
                status.getRaftAppliedIndex(),
                new Revision(Math.max(0, status.getHeader().getRevision())),
                status.getDbSize(),
                status.getDbSizeInUse(),
                reachesQuorum,
                status.getErrorsList(),
                StorageStatus.of(status));
    }

    /** Returns this response with other indexes. */
    MemberAnswer withIndexes(long committed, long applied, Revision current) {
        return new MemberAnswer(
                version,
                leader,
                raftTerm,
                committed,
                applied,
                current,
                databaseBytes,
                databaseBytesInUse,
                reachesQuorum,
                errors,
                storage);
    }

    /** Returns this response with another version. */
    public MemberAnswer withVersion(EtcdVersion other) {
        return with(other, leader, raftTerm, storage);
    }

    /** Returns this response with another leader and term. */
    public MemberAnswer withLeader(MemberId other, long term) {
        return with(version, Optional.of(other), term, storage);
    }

    /** Returns this response with another storage version or downgrade. */
    public MemberAnswer withStorage(StorageStatus other) {
        return with(version, leader, raftTerm, other);
    }

    private MemberAnswer with(
            EtcdVersion otherVersion, Optional<MemberId> otherLeader, long term, StorageStatus otherStorage) {
        return new MemberAnswer(
                otherVersion,
                otherLeader,
                term,
                raftIndex,
                appliedIndex,
                revision,
                databaseBytes,
                databaseBytesInUse,
                reachesQuorum,
                errors,
                otherStorage);
    }
}
