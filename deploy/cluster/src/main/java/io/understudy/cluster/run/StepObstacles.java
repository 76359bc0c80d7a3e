package io.understudy.cluster.run;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.StepWork.LearnerLimit;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.MemberId;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** What prevents a step on its machine: found before anything is changed for it. */
public record StepObstacles(Machines machines, Optional<LearnerLimit> limit) {

    /** Returns why the step cannot be taken on its machine. */
    Optional<Refusal> of(Step step, ClusterFacts facts) {
        return programFailure(step)
                .or(() -> outdated(step, facts))
                .or(() -> moveFailure(step))
                .or(() -> setAsideFailure(step))
                .or(() -> foreignData(step, facts))
                .or(() -> step instanceof Step.AddLearner ? learnerLimits(facts) : Optional.empty());
    }

    /**
     * Returns why members may have different limits of learners. Since etcd 3.6 each checks its own when it applies an
     * added learner, so that their member lists would differ for good. The first learner is within any limit.
     */
    public Optional<Refusal> learnerLimits(ClusterFacts facts) {
        boolean isLimited = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .anyMatch(answer -> answer.version().maxLearnersConfigurable());
        return isLimited && !facts.learners().isEmpty()
                ? limit.flatMap(required -> learnerLimits(facts, required))
                : Optional.empty();
    }

    private Optional<Refusal> learnerLimits(ClusterFacts facts, LearnerLimit required) {
        if (facts.learners().size() >= required.value()) {
            return Optional.of(new Refusal(
                    "learner-slot-free",
                    "the cluster has " + Counted.of(facts.learners().size(), "learner", "learners")
                            + ", the configured limit is " + required.value(),
                    "Promote or remove one first, or set shape.maxLearners and restart all members (understudy cluster"
                            + " roll); without configured machines, specify the limit with --max-learners"));
        }
        String others = facts.members().stream()
                .filter(MemberFacts::hasStarted)
                .flatMap(member -> otherLimit(member, required).stream())
                .collect(joining(", "));
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "learner-limits-equal",
                        "another learner needs the same --max-learners for all members, " + required.value() + "; "
                                + others,
                        "Restart the members with this limit (understudy cluster roll), and confirm it for members that"
                                + " are not managed here with --max-learners " + required.value()));
    }

    private Optional<String> otherLimit(MemberFacts member, LearnerLimit required) {
        Optional<String> found = machines.place(member.name()).flatMap(machines::maxLearners);
        if (found.isEmpty()) {
            return required.isConfirmed() ? Optional.empty() : Optional.of("that of " + member.name() + " is unknown");
        }
        return found.filter(value -> !value.equals(String.valueOf(required.value())))
                .map(value -> member.name() + " has " + value);
    }

    private Optional<Refusal> moveFailure(Step step) {
        return step instanceof Step.Migrate migrate
                ? machines.moveFailure(migrate.from(), migrate.to())
                        .or(() -> machines.programFailure(migrate.to(), UnaryOperator.identity()))
                        .map(why -> new Refusal(
                                "data-movable",
                                "the data of " + migrate.from().name() + " cannot be moved to "
                                        + migrate.to().name() + ": " + why,
                                "Correct that, or replace without --migrate-data"))
                : Optional.empty();
    }

    /** Returns why a member could not start without data. Called before another one is removed for it. */
    private Optional<Refusal> setAsideFailure(Step step) {
        boolean isEmptied = step instanceof Step.AddLearner
                || (step instanceof Step.Join join
                        && !machines.isRunning(join.member()).orElse(false));
        return step.place().filter(unused -> isEmptied).flatMap(place -> machines.setAsideFailure(place)
                .map(why -> new Refusal(
                        "data-directory-free",
                        "earlier data of " + place.name() + " cannot be set aside: " + why,
                        "Configure another data directory (machines." + place.name()
                                + ".dataDirectory), such as one below it")));
    }

    /** Returns why a member could not start. Called before it is stopped, or another one is removed for it. */
    private Optional<Refusal> programFailure(Step step) {
        if (step instanceof Step.Restart restart) {
            return machines.programFailure(restart.member(), configured -> StepWork.changed(configured, restart))
                    .map(why -> programRuns(
                            restart.member(),
                            "start again",
                            why,
                            restart.program().isPresent()));
        }
        return step instanceof Step.Join join
                ? machines.programFailure(join.member(), UnaryOperator.identity())
                        .map(why -> programRuns(join.member(), "start", why, false))
                : Optional.empty();
    }

    /** Returns why the configured program is unsuitable, if the step starts a member with it. */
    private Optional<Refusal> outdated(Step step, ClusterFacts facts) {
        boolean isConfigured = step instanceof Step.AddLearner
                || step instanceof Step.Start
                || step instanceof Step.Join
                || (step instanceof Step.Restart restart && restart.program().isEmpty());
        return (step instanceof Step.Migrate migrate
                        ? Optional.of(migrate.to())
                        : step.place().filter(unused -> isConfigured))
                .flatMap(place -> outdated(place, facts));
    }

    /**
     * Returns why a member could not, or must not, start with its configured program: etcd ends in a cluster of a later
     * version, and a new member of a later minor version would be an unchecked upgrade. One that has started keeps its
     * program, as during an upgrade.
     */
    public Optional<Refusal> outdated(MemberSpec place, ClusterFacts facts) {
        EtcdVersion cluster = facts.clusterVersion();
        EtcdVersion newest = Stream.concat(Stream.of(cluster), newVersions(place, facts))
                .max(Comparator.naturalOrder())
                .orElse(cluster);
        EtcdVersion program = newest.equals(EtcdVersion.UNKNOWN) ? newest : machines.programVersion(place);
        if (program.equals(EtcdVersion.UNKNOWN)) {
            return Optional.empty();
        }
        if (!program.atLeast(cluster.major(), cluster.minor(), 0)) {
            return Optional.of(new Refusal(
                    "program-current",
                    "the configured program of " + place.name() + " is etcd " + program + ", the cluster has version "
                            + cluster,
                    "Set machines." + place.name() + ".program to the program of the other members"));
        }
        return newVersions(place, facts).findAny().isEmpty() || newest.atLeast(program.major(), program.minor(), 0)
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "upgrade-checked",
                        "the configured program of " + place.name() + " is etcd " + program
                                + ", and the voting members run " + newest + " at most",
                        "Set machines." + place.name() + ".program to the program of the other members, or upgrade the"
                                + " cluster first (understudy cluster roll)"));
    }

    /** Returns the versions that a member without data may have; none restricts one that has started. */
    private static Stream<EtcdVersion> newVersions(MemberSpec place, ClusterFacts facts) {
        return facts.of(place).filter(MemberFacts::hasStarted).isPresent()
                ? Stream.of()
                : facts.healthyVoters().stream()
                        .flatMap(voter -> voter.answer().stream())
                        .map(MemberAnswer::version);
    }

    private static Refusal programRuns(MemberSpec member, String what, String why, boolean isByFlag) {
        return new Refusal(
                "program-runs",
                member.name() + " could not " + what + ": " + why,
                "Install its program, or correct "
                        + (isByFlag ? "--program" : "machines." + member.name() + ".program"));
    }

    Optional<Refusal> foreignData(Step step, ClusterFacts facts) {
        return dataInUse(step, facts).or(() -> otherData(step, facts));
    }

    /** Rejects a start with data of another member. etcd itself rejects unreadable ones. */
    private Optional<Refusal> otherData(Step step, ClusterFacts facts) {
        if (!(step instanceof Step.Start || step instanceof Step.Restart || step instanceof Step.Migrate)) {
            return Optional.empty();
        }
        MemberSpec place = step.place()
                .filter(from ->
                        !(step instanceof Step.Migrate) || machines.owner(from).isPresent())
                .orElseGet(() -> ((Step.Migrate) step).to());
        return machines.owner(place)
                .filter(owner -> !owner.cluster().equals(facts.cluster())
                        || facts.member(owner.member())
                                .filter(member -> step.subject()
                                        .map(member.id()::equals)
                                        .orElseGet(() ->
                                                member.name().equals(place.name()) || StepWork.isAt(member, place)))
                                .isEmpty())
                .map(owner -> new Refusal(
                        "data-directory-free",
                        "the data directory of " + place.name() + " has data of " + owner + ", not of " + place.name()
                                + " of cluster " + facts.cluster(),
                        "Correct machines." + place.name() + ".dataDirectory; if the data of " + place.name()
                                + " are lost, remove it and add it again"));
    }

    /**
     * Rejects a data directory in use by a member that the step does not concern. Data of a removed member of this
     * cluster is no obstacle.
     */
    private Optional<Refusal> dataInUse(Step step, ClusterFacts facts) {
        Optional<MemberSpec> place = step.place();
        if (place.isEmpty() || !machines.isInUse(place.get())) {
            return Optional.empty();
        }
        Optional<DataOwner> owner = machines.owner(place.get());
        boolean isFree = owner.isPresent()
                ? owner.get().cluster().equals(facts.cluster())
                        && (facts.member(owner.get().member()).isEmpty()
                                || isAbout(step, facts, owner.get().member()))
                // A member has no log before it has found the others.
                : !(step instanceof Step.AddLearner);
        return isFree
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "data-directory-free",
                        "a process uses the data directory of " + place.get().name()
                                + owner.map(known -> ", of " + known).orElse(""),
                        "Stop it, or configure another data directory (machines."
                                + place.get().name() + ".dataDirectory)"));
    }

    private static boolean isAbout(Step step, ClusterFacts facts, MemberId member) {
        return !(step instanceof Step.Retire)
                && step.subject()
                        .or(() -> step.place()
                                .flatMap(place -> facts.named(place.name()))
                                .map(MemberFacts::id))
                        .filter(member::equals)
                        .isPresent();
    }
}
