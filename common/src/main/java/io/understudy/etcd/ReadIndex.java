package io.understudy.etcd;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Instant;

/**
 * A revision confirmed by a quorum: every write acknowledged before {@code sentAt} is at or below it.
 *
 * @param servedBy the member (or gateway) that answered
 * @param sentAt when the round was sent, by this machine's clock
 */
public record ReadIndex(Revision revision, ClusterId clusterId, MemberId servedBy, long raftTerm, Instant sentAt) {}
