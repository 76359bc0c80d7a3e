package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.Set;

/**
 * A contradiction between members: confirmed member lists that differ, or another cluster at a member's client URL. A member
 * list is part of the replicated state, so that a difference never heals by itself.
 *
 * @param members those that contradict the majority; all that answered if no list has one
 * @param hasMajority whether the other members agree and are a majority of the voting members they list
 * @param texts what differs
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
