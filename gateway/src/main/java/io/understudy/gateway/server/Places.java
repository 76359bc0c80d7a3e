package io.understudy.gateway.server;

import java.util.HashMap;
import java.util.Map;

/** Places for concurrent work. One client has a quarter of them at most, so that others are served. Thread-safe. */
public final class Places {

    private static final int SHARES = 4;

    private final int all;
    private final int ofClient;

    // Under this object's lock.
    private final Map<String, Integer> taken = new HashMap<>();
    private int free;

    public Places(int all) {
        this.all = all;
        this.ofClient = Math.max(1, all / SHARES);
        this.free = all;
    }

    /** Takes a place of a client as named by {@link LoopLoad#client}; false if there is none. */
    public synchronized boolean take(String client) {
        int own = taken.getOrDefault(client, 0);
        if (free == 0 || own == ofClient) {
            return false;
        }
        free--;
        taken.put(client, own + 1);
        return true;
    }

    /** Returns a taken place. */
    public synchronized void giveBack(String client) {
        free++;
        taken.computeIfPresent(client, (same, own) -> own == 1 ? null : own - 1);
    }

    /** Returns what is allowed, for error texts. */
    public String allowed() {
        return all + ", " + ofClient + " of one client";
    }
}
