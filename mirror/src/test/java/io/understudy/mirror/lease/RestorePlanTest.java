package io.understudy.mirror.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.mirror.lease.LeaseRestore.LeasedKey;
import io.understudy.mirror.lease.LeaseRestore.RestorePlan;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is put back, and in which order. */
final class RestorePlanTest {

    @Test
    void thePlanIsEmptyIfNoKeyIsMissing() {
        RestorePlan plan = plan(place(1, 10, 100), place(2, 11, 101), key("k", 5, 102));
        assertThat(plan.puts()).isEmpty();
        assertThat(plan.deletes()).isEmpty();
    }

    @Test
    void missingKeysArePutInTheOrderOfTheirCreation() {
        LeasedKey late = key("a", 12, 0);
        LeasedKey early = key("b", 11, 0);
        assertThat(plan(late, key("c", 10, 100), early).puts()).containsExactly(early, late);
    }

    @Test
    void aKeyWithAnotherLeaseIsPut_notDeleted() {
        LeasedKey other = new LeasedKey(bytes("k"), bytes("k"), 10, 1, 100, false);
        RestorePlan plan = plan(other);
        assertThat(plan.puts()).containsExactly(other);
        assertThat(plan.deletes()).isEmpty();
    }

    @Test
    void placesAfterAMissingOneAreRecreatedAndThoseBeforeItKept() {
        LeasedKey missing = place(2, 11, 0);
        LeasedKey after = place(3, 12, 102);
        RestorePlan plan = plan(place(1, 10, 100), missing, after, key("k", 13, 90));
        assertThat(plan.deletes()).containsExactly(after);
        assertThat(plan.puts()).containsExactly(missing, after);
    }

    @Test
    void aPlaceCreatedTooEarlyIsRecreated() {
        LeasedKey displaced = place(2, 11, 99);
        RestorePlan plan = plan(place(1, 10, 100), displaced);
        assertThat(plan.deletes()).containsExactly(displaced);
        assertThat(plan.puts()).containsExactly(displaced);
    }

    @Test
    void queuesAreIndependent() {
        LeasedKey missing = new LeasedKey(bytes("other/1"), bytes("other/1"), 9, 1, 0, false);
        RestorePlan plan = plan(missing, place(1, 10, 100), place(2, 11, 101));
        assertThat(plan.deletes()).isEmpty();
        assertThat(plan.puts()).containsExactly(missing);
    }

    @Test
    void keysOfARegrantedLeaseAndThePlacesAfterThemAreRecreated() {
        LeasedKey first = place(1, 10, 100);
        LeasedKey ends = place(2, 11, 101);
        LeasedKey after = place(3, 12, 102);
        LeasedKey other = new LeasedKey(bytes("k"), bytes("k"), 13, 2, 103, true);
        RestorePlan plan = RestorePlan.of(List.of(first, ends, after, other), Set.of(2L));
        assertThat(plan.deletes()).containsExactly(ends, after, other);
        assertThat(plan.puts()).containsExactly(ends, after, other);
    }

    private static RestorePlan plan(LeasedKey... keys) {
        return RestorePlan.of(List.of(keys), Set.of());
    }

    /** A place in the queue {@code lock}, of a lease of that id. */
    private static LeasedKey place(long lease, long created, long targetCreated) {
        ByteString key = bytes("lock/" + Long.toHexString(lease));
        return new LeasedKey(key, key, created, lease, targetCreated, targetCreated != 0);
    }

    private static LeasedKey key(String name, long created, long targetCreated) {
        return new LeasedKey(bytes(name), bytes(name), created, 7, targetCreated, targetCreated != 0);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
