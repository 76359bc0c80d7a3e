package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.supervise.rule.Place;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Machines of which one can't be queried; how one fails is for its own tests. */
final class InventoryTest {

    private final List<String> queried = new ArrayList<>();
    private final Set<String> running = new HashSet<>(Set.of("one", "two"));
    private final List<String> run = new ArrayList<>();
    private Optional<String> joinFailure = Optional.of("etcd: no such file");
    private Optional<String> outdated = Optional.empty();
    private boolean broken = true;
    private Instant now = Instant.EPOCH;

    @Test
    void aFailedQueryHidesNoOtherMachineAndIsRetriedLater() {
        Inventory inventory = inventory();

        assertThat(inventory.places(List.of()))
                .extracting(Place::running)
                .containsExactly(Optional.empty(), Optional.of(true));
        assertThat(inventory.places(List.of())).extracting(Place::answers).containsExactly(false, true);
        assertThat(queried).containsExactly("one", "two", "two");

        now = now.plus(Duration.ofMinutes(1));
        broken = false;
        assertThat(inventory.places(List.of()))
                .extracting(Place::running)
                .containsExactly(Optional.of(true), Optional.of(true));
    }

    /** A voting member would be removed for one that cannot start. */
    @Test
    void aFreeMachineWithoutAProgramIsUsedOnceItHasOne() {
        broken = false;
        running.remove("two");
        Inventory inventory = inventory();
        List<MemberSpec> free = List.of(named("one"), named("two"));

        assertThat(inventory.places(free)).extracting(Place::answers).containsExactly(true, false);
        assertThat(inventory.places(free)).extracting(Place::answers).containsExactly(true, false);
        assertThat(run).as("neither of a running member, nor at each look").containsExactly("two");

        now = now.plus(Duration.ofMinutes(1));
        joinFailure = Optional.empty();
        assertThat(inventory.places(free)).extracting(Place::answers).containsExactly(true, true);
        assertThat(run).containsExactly("two", "two");

        now = now.plus(Duration.ofMinutes(1));
        assertThat(inventory.places(List.of())).extracting(Place::answers).containsExactly(true, true);
        assertThat(run).as("no program of a member's own machine").hasSize(2);
    }

    @Test
    void theProgramOfAStoppedMemberIsComparedWithTheCluster() {
        broken = false;
        running.remove("two");
        outdated = Optional.of("set machines.two.program");
        Inventory inventory = inventory();

        assertThat(inventory.places(List.of())).extracting(Place::outdated).containsExactly(Optional.empty(), outdated);
        joinFailure = Optional.empty();
        assertThat(inventory.places(List.of(named("two"))))
                .extracting(Place::answers)
                .containsExactly(true, false);
    }

    private Inventory inventory() {
        return new Inventory(
                List.of(named("one"), named("two")),
                this::isRunning,
                member -> {
                    run.add(member.name());
                    return joinFailure;
                },
                member -> outdated,
                member -> Optional.empty(),
                () -> now);
    }

    private static MemberSpec named(String name) {
        return new MemberSpec(name, List.of(), List.of());
    }

    private Optional<Boolean> isRunning(MemberSpec member) {
        queried.add(member.name());
        if (broken && member.name().equals("one")) {
            throw new IllegalStateException("systemctl is not there");
        }
        return Optional.of(running.contains(member.name()));
    }
}
