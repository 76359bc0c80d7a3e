package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.Set;

/**
 * A contradiction between members: different confirmed lists, or another cluster at a client URL. A member list is
 * replicated state, so that a difference never heals by itself.
 *
 * @param members members that contradict the majority; without a majority, all that responded
 * @param hasMajority whether the other members agree and are a majority of the voting members they list
 * @param texts descriptions of the differences
 */
public record Divergence(Set<MemberId> members, boolean hasMajority, List<String> texts) {

    public static final Divergence NONE = new Divergence(Set.of(), true, List.of());

    public Divergence {
        members = Set.copyOf(members);
        texts = List.copyOf(texts);
    }

    public boolean isNone() {
        return texts.isEmpty();
    }
}
