package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.Roll;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.snapshot.StorageVersionFile;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;

/** What is checked of the machines before a change of the minor version. */
final class UpgradeChecksTest {

    private static final MemberSpec M1 = new MemberSpec(
            "m1", List.of(URI.create("http://10.0.0.1:2380")), List.of(URI.create("http://10.0.0.1:2379")));

    @TempDir
    private Path folder;

    private MachineSettings machine;

    @BeforeEach
    void configure() {
        machine = MachineSettings.of(M1, ProcessKind.LOCAL, folder.resolve("m1"));
    }

    /** A member that does not respond may have data that the new program cannot read. */
    @ParameterizedTest
    @CsvSource({"3.6.16,''", "3.7.3,version-known"})
    void aMemberThatDoesNotRespondIsStartedWithAnEarlierProgram(String configured, String rule) throws Exception {
        machine = machine.withProgram(program(configured));

        assertThat(rules("3.7.3", Optional.empty(), false)).isEqualTo(rule.isEmpty() ? List.of() : List.of(rule));
    }

    /** Such as one that an interrupted run has stopped. */
    @Test
    void aMemberThatDoesNotRespondMayBeConfirmedToBeReady() throws Exception {
        machine = machine.withProgram(program("3.7.3"));

        assertThat(rules("3.7.3", Optional.empty(), true)).isEmpty();
    }

    /** {@code cluster downgrade} has no {@code --restarted}; both versions read lowered data. */
    @ParameterizedTest
    @CsvSource({"3.6.0,", "3.7.0,Start it first with its present program"})
    void aMemberThatDoesNotRespondIsDowngradedOnceTheDataAreLowered(String storage, @Nullable String wayOut) {
        machine = MachineSettings.of(M1, ProcessKind.MANUAL, folder.resolve("m1"));

        assertThat(checks("3.6.16", true, false, 1000).check(facts(Optional.empty(), "3.7.3", storage)))
                .extracting(Refusal::wayOut)
                .isEqualTo(Stream.ofNullable(wayOut).toList());
    }

    /** 3.5 reports no storage version. */
    @Test
    void aMemberThatAlreadyRuns35DoesNotEndARepeatedDowngrade() {
        machine = MachineSettings.of(M1, ProcessKind.MANUAL, folder.resolve("m1"));
        ClusterFacts facts = new ClusterFacts(
                new ClusterId(7),
                List.of(
                        member(1, Optional.empty(), ""),
                        member(2, Optional.of("3.5.33"), ""),
                        member(3, Optional.of("3.6.16"), "3.5.0")),
                true,
                List.of(),
                Instant.EPOCH);

        assertThat(checks("3.5.33", true, false, 1000).check(facts)).isEmpty();
    }

    /** As after an interrupted command. */
    @Test
    void aCompletedDowngradeIsAwaitedBeforeAnyStep() throws Exception {
        Flags flags = new Flags();
        Converters.register(new CommandLine(flags), "1s").parseArgs("--endpoints=http://127.0.0.1:1");
        ClusterFacts ending = completed("3.6.0");
        Deque<ClusterFacts> seen = new ArrayDeque<>(List.of(ending, completed("")));
        StepWork work = new StepWork(new MemoryCluster(3, 3, "3.6.16", "3.6.16"), new NoMachines());
        Goal roll = new Roll(Instant.EPOCH, EtcdVersion.parse("3.6.16"), Optional.empty(), true, step -> false);
        try (ClusterChange change = new ClusterChange(flags.change, flags.change.connect(), ending, work) {
            @Override
            ClusterObserver observer() {
                return timeout -> seen.remove();
            }
        }) {
            assertThat(change.reach(roll)).isEqualTo(ExitCode.OK);
        }
        assertThat(seen).isEmpty();
    }

    private static ClusterFacts completed(String enabled) {
        return new ClusterFacts(
                new ClusterId(7),
                Stream.of(1, 2, 3)
                        .map(number -> member(number, Optional.of("3.6.16"), new StorageStatus("3.6.0", enabled)))
                        .toList(),
                true,
                List.of(),
                Instant.EPOCH);
    }

    @Command
    private static final class Flags {
        @Mixin
        private ClusterFlags.Change change;
    }

    /** The cluster version is that of the target by then. */
    @Test
    void aDowngradeRestartsMembersWithTheirConfiguredPrograms() {
        Optional<String> running = Optional.of("3.7.3");
        ClusterFacts facts = new ClusterFacts(
                new ClusterId(7),
                List.of(member(1, running, "3.7.0"), member(2, running, "3.7.0"), member(3, running, "3.7.0")),
                true,
                List.of(),
                Instant.EPOCH);
        StepWork work = new StepWork(new MemoryCluster(3, 3, "3.7.3", "3.6.16"), new NoMachines() {
            @Override
            public EtcdVersion programVersion(MemberSpec member) {
                return EtcdVersion.parse("3.6.16");
            }
        });
        Roll roll = new Roll(Instant.EPOCH, EtcdVersion.parse("3.6.16"), Optional.empty(), true, step -> false);

        Plan.Steps plan = (Plan.Steps) roll.plan(facts);

        assertThat(plan.steps().get(0).step()).isEqualTo(new Step.Downgrade("3.6.0"));
        assertThat(new ClusterChange(null, null, facts, work).obstacles(plan.steps()))
                .isEmpty();
    }

    @Test
    void aMemberThatDoesNotRespondIsCheckedLikeTheOthers() throws Exception {
        machine = machine.withProgram(program("3.5.33")).withArguments(List.of("--proxy=off"));

        assertThat(rules("3.6.16", Optional.empty(), false))
                .containsExactly("flags-known", "free-space", "no-v2-content");
    }

    @ParameterizedTest
    @CsvSource({
        "3.6.16,3.7.3,3.6.16,false,0",
        "3.6.16,3.7.3,3.7.3,false,1",
        "3.6.16,3.7.3,3.7.3,true,0",
        "3.5.33,3.6.16,3.5.33,false,0",
        "3.5.33,3.6.16,3.6.16,false,1"
    })
    void theRestartBeforeAnUpgradeNeedsThePresentProgram(
            String running, String target, String configured, boolean isConfirmed, int refused) throws Exception {
        machine = machine.withProgram(program(configured));

        assertThat(rules(target, Optional.of(running), isConfirmed))
                .filteredOn("restarted"::equals)
                .hasSize(refused);
    }

    /** It would start as that version unchecked, or be restarted in vain. */
    @ParameterizedTest
    @CsvSource({
        "3.6.16,3.6.17,3.7.3,false,1",
        "3.7.3,3.6.16,3.5.33,false,1",
        "3.6.16,3.7.3,3.8.0,true,1",
        "3.6.16,3.7.3,3.6.16,false,1",
        ",3.6.17,3.6.16,false,1",
        "3.6.16,3.6.17,3.6.16,false,1",
        "3.6.16,3.6.17,3.6.17,false,0",
        "3.7.3,3.6.16,3.6.16,false,0",
        "3.6.16,3.7.3,3.7.3,true,0",
        "3.6.16,3.6.16,3.6.17,false,0",
        "3.7.0-rc.0,3.7.0,3.7.0-rc.0,false,1",
        ",3.6.17,3.6.17,false,0"
    })
    void aConfiguredProgramOfAnotherVersionIsNotStarted(
            @Nullable String running, String target, String configured, boolean isRestarted, int refused)
            throws Exception {
        machine = machine.withProgram(program(configured));
        String other = running == null ? target : running;
        ClusterFacts facts = facts(
                Optional.ofNullable(running), other, EtcdVersion.parse(other).ofCluster());

        assertThat(checks(target, false, isRestarted, 1000).check(facts))
                .filteredOn(refusal -> !refusal.why().startsWith("m2"))
                .hasSize(refused)
                .allSatisfy(refusal -> assertThat(refusal)
                        .hasToString("program-version: the configured program of m1 has version " + configured
                                + ", --to-version is " + target + ". Specify the directory of etcd " + target
                                + " with --program, or install it as machines.m1.program"));
    }

    /** Else a wrong data directory has no v2 content. */
    @Test
    void theDataThatAreSearchedAreThoseOfTheMember() throws Exception {
        Files.createDirectories(folder.resolve("m1/member/snap"));

        assertThat(refusals("3.6.16", Optional.of("3.5.33"), true))
                .singleElement()
                .satisfies(refusal -> assertThat(refusal.why()).contains("m1 has no readable data"));
    }

    /** etcdutl deletes the file of a defragmentation under way, and renames unreadable snapshots. */
    @Test
    void theSearchForContentOfTheV2ApiChangesNoData() throws Exception {
        machine = machine.withProgram(program("3.5.33"));
        program("etcdutl", """
                case "$*" in
                version) echo "etcdutl version: 3.5.33" ;;
                *--help) echo --data-dir ;;
                *) data=${3#--data-dir=} && cat "$data"/member/wal/*.wal "$data"/member/snap/1.snap && rm "$data"/member/snap/* ;;
                esac
                """);
        Path snapshots = Files.createDirectories(folder.resolve("m1/member/snap"));
        List<Path> kept =
                List.of(Files.createFile(snapshots.resolve("1.snap")), Files.createFile(snapshots.resolve("db.tmp.1")));
        // The metadata record of member 1 of cluster 7.
        Files.write(
                Files.createDirectories(folder.resolve("m1/member/wal")).resolve("0.wal"),
                HexFormat.of().parseHex("080000000000000008011a0408011007"));

        assertThat(refusals("3.6.16", Optional.of("3.5.33"), true)).isEmpty();
        assertThat(kept).allMatch(Files::exists);
    }

    /** 3.5 starts with them, and does not report their version. */
    @Test
    void dataOfALaterVersionAreNotUpgraded() throws Exception {
        machine = machine.withProgram(program("3.5.33"));
        StorageVersionFile.write(
                Files.createDirectories(folder.resolve("m1/member/snap")).resolve("db"), "3.7.0");

        assertThat(rules("3.6.16", Optional.of("3.5.33"), true)).contains("data-supported");
    }

    @ParameterizedTest
    @CsvSource({
        "Error: detected custom content in v2store,Remove the content",
        "Error: detected custom v2 content in WAL records,Remove the content",
        "could not be started: permission denied,Correct that",
        "did not complete within 600 s,Correct that"
    })
    void aFailedToolProvesNoContentOfTheV2Api(String failure, String wayOut) {
        assertThat(UpgradeChecks.v2Refusal("m1", failure, "confirm it").wayOut())
                .startsWith(wayOut);
    }

    @Test
    void flagsAreCheckedBeforeADowngradeToo() throws Exception {
        machine = machine.withArguments(List.of("--log-format=json"));

        assertThat(rules("3.5.33", Optional.of("3.6.16"), false)).containsExactly("flags-known");
    }

    /** A silent member of a mixed cluster may have the earlier version; a crashed one of a patch upgrade has not. */
    @ParameterizedTest
    @CsvSource({
        "3.7.3,,3.7.2,3.6.0,true",
        "3.7.3,,3.7.2,3.7.0,false",
        "3.6.16,,3.6.10,3.5.0,true",
        "3.5.33,,3.5.30,'',false",
        "3.7.3,3.7.2,3.7.2,3.6.0,false",
        "3.7.3,3.6.16,3.7.3,3.6.0,true"
    })
    void aMemberThatDoesNotRespondIsCheckedUntilTheClusterHasTheTargetsVersion(
            String target, String first, String second, String storage, boolean areNeeded) {
        ClusterFacts facts = facts(Optional.ofNullable(first), second, storage);

        assertThat(UpgradeChecks.areNeeded(facts, EtcdVersion.parse(target))).isEqualTo(areNeeded);
    }

    /** An exchanged program must not bypass the checks of {@code --to-version}. */
    @ParameterizedTest
    @CsvSource({
        "LOCAL,3.6.16,3.6.16,0",
        "LOCAL,3.6.17,3.6.16,1",
        "LOCAL,3.7.3,3.6.16,1",
        "LOCAL,3.7.3,,1",
        "LOCAL,3.6.17,,0",
        "LOCAL,'',3.6.16,0",
        "MANUAL,3.7.3,3.6.16,0"
    })
    void aRestartWithAnExchangedProgramIsAnUpgrade(ProcessKind kind, String configured, String running, int refused)
            throws Exception {
        machine = MachineSettings.of(M1, kind, folder.resolve("m1")).withProgram(program(configured));

        assertThat(UpgradeChecks.exchanged(List.of(machine), facts(Optional.ofNullable(running), "3.6.16")))
                .hasSize(refused)
                .allSatisfy(refusal -> assertThat(refusal.wayOut()).contains("--to-version " + configured));
    }

    private List<String> rules(String target, Optional<String> running, boolean isRestarted) {
        return refusals(target, running, isRestarted).stream()
                .map(Refusal::rule)
                .toList();
    }

    /** Of two members, of which the second, with a database of 1000 bytes, runs the target. The first may run the old one. */
    private List<Refusal> refusals(String target, Optional<String> running, boolean isRestarted) {
        boolean isLow = target.equals("3.6.16") && running.isEmpty();
        String storage = target.equals("3.7.3") ? "3.6.0" : "3.5.0";
        return checks(target, true, isRestarted, isLow ? 999 : 1000).check(facts(running, target, storage));
    }

    private UpgradeChecks checks(String target, boolean isProgramGiven, boolean isRestarted, long free) {
        return new UpgradeChecks(
                List.of(machine),
                member -> OptionalLong.of(free),
                EtcdVersion.parse(target),
                isProgramGiven,
                false,
                isRestarted);
    }

    private static ClusterFacts facts(Optional<String> running, String other) {
        return facts(running, other, "");
    }

    private static ClusterFacts facts(Optional<String> running, String other, String storage) {
        return new ClusterFacts(
                new ClusterId(7),
                List.of(member(1, running, storage), member(2, Optional.of(other), storage)),
                true,
                List.of(),
                Instant.EPOCH);
    }

    private static MemberFacts member(int number, Optional<String> running, String storage) {
        return member(number, running, new StorageStatus(storage, ""));
    }

    private static MemberFacts member(int number, Optional<String> running, StorageStatus storage) {
        return new MemberFacts(
                new MemberId(number),
                "m" + number,
                Role.VOTER,
                M1.peerUrls(),
                M1.clientUrls(),
                running.map(version -> new MemberAnswer(
                        EtcdVersion.parse(version),
                        Optional.of(new MemberId(2)),
                        2,
                        10,
                        10,
                        new Revision(5),
                        1000,
                        1000,
                        true,
                        List.of(),
                        storage)),
                Measurements.NONE);
    }

    private Path program(String version) throws IOException {
        return program("etcd", "echo etcd Version: " + version + "\n");
    }

    private Path program(String name, String script) throws IOException {
        Path program = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script);
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}
