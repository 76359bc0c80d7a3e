package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.supervise.rule.Place;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Machines of which one can't be queried; how one fails is for its own tests. */
final class InventoryTest {

    private final List<String> queried = new ArrayList<>();
    private boolean broken = true;
    private Instant now = Instant.EPOCH;

    @Test
    void aFailedQueryHidesNoOtherMachineAndIsRetriedLater() {
        Inventory inventory = new Inventory(List.of(named("one"), named("two")), this::isRunning, () -> now);

        assertThat(inventory.places()).extracting(Place::running).containsExactly(Optional.empty(), Optional.of(true));
        assertThat(inventory.places()).extracting(Place::answers).containsExactly(false, true);
        assertThat(queried).containsExactly("one", "two", "two");

        now = now.plus(Duration.ofMinutes(1));
        broken = false;
        assertThat(inventory.places()).extracting(Place::running).containsExactly(Optional.of(true), Optional.of(true));
    }

    private static MemberSpec named(String name) {
        return new MemberSpec(name, List.of(), List.of());
    }

    private Optional<Boolean> isRunning(MemberSpec member) {
        queried.add(member.name());
        if (broken && member.name().equals("one")) {
            throw new IllegalStateException("systemctl is not there");
        }
        return Optional.of(true);
    }
}
