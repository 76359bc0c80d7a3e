package io.understudy.gateway.permission;

import io.understudy.gateway.caller.Principal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * For questions under way at a time; each takes a second at most, for each member that says nothing. Nobody takes all of it,
 * and those who were never permitted anything leave most of it to the others: anybody can make up a token that nobody answers
 * for. For any thread.
 */
final class Room {

    static final int MOST = 10_000;
    static final int MOST_OF_STRANGERS = 2_000;
    static final int MOST_OF_ONE = 1_000;
    static final int MOST_OF_A_STRANGER = 100;

    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger strangers = new AtomicInteger();
    private final Map<Principal, Integer> each = new ConcurrentHashMap<>();

    /**
     * Takes some for one question.
     *
     * @param stranger whether nothing was permitted to {@code principal} lately
     * @return gives it back, to be run once; null if there is none
     */
    @Nullable Runnable take(Principal principal, boolean stranger) {
        int mostOfOne = stranger ? MOST_OF_A_STRANGER : MOST_OF_ONE;
        if (all.incrementAndGet() > MOST) {
            all.decrementAndGet();
            return null;
        }
        if (stranger && strangers.incrementAndGet() > MOST_OF_STRANGERS) {
            strangers.decrementAndGet();
            all.decrementAndGet();
            return null;
        }
        Runnable giveBack = () -> {
            each.computeIfPresent(principal, (one, taken) -> taken == 1 ? null : taken - 1);
            if (stranger) {
                strangers.decrementAndGet();
            }
            all.decrementAndGet();
        };
        if (each.merge(principal, 1, Integer::sum) > mostOfOne) {
            giveBack.run();
            return null;
        }
        return giveBack;
    }
}
