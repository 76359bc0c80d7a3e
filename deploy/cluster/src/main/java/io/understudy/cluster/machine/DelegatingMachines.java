package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Machines that pass on each request for a member to others. */
abstract class DelegatingMachines implements Machines {

    /**
     * Passes on a request.
     *
     * @param name of the request, for errors
     * @param isOrder whether it may change something
     */
    abstract <T> T pass(MemberSpec member, String name, boolean isOrder, Function<Machines, T> request);

    @Override
    public void found(MemberSpec member, String initialCluster, String token) {
        order(member, "first start", machines -> machines.found(member, initialCluster, token));
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        order(member, "start without data", machines -> machines.join(member, initialCluster));
    }

    @Override
    public void resumeJoining(MemberSpec member) {
        order(member, "start without data", machines -> machines.resumeJoining(member));
    }

    @Override
    public void letGo(MemberSpec member) {
        order(member, "end of the join throttle", machines -> machines.letGo(member));
    }

    @Override
    public void endFirstStart(MemberSpec member) {
        order(member, "end of the first start", machines -> machines.endFirstStart(member));
    }

    @Override
    public OptionalLong received(MemberSpec member) {
        return read(member, "read of the received snapshot", machines -> machines.received(member));
    }

    @Override
    public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        order(member, "start", machines -> machines.start(member, settings));
    }

    @Override
    public void start(MemberSpec member) {
        order(member, "start", machines -> machines.start(member));
    }

    @Override
    public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return read(member, "start of its program", machines -> machines.programFailure(member, settings));
    }

    @Override
    public EtcdVersion programVersion(MemberSpec member) {
        return read(member, "start of its program", machines -> machines.programVersion(member));
    }

    @Override
    public Optional<String> maxLearners(MemberSpec member) {
        return read(member, "read of the limit of learners", machines -> machines.maxLearners(member));
    }

    @Override
    public void stop(MemberSpec member) {
        order(member, "stop", machines -> machines.stop(member));
    }

    @Override
    public void retire(MemberSpec member) {
        order(member, "stop of the removed member", machines -> machines.retire(member));
    }

    @Override
    public void copyData(MemberSpec member) {
        order(member, "copy of the data", machines -> machines.copyData(member));
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return read(member, "read of the process state", machines -> machines.isRunning(member));
    }

    @Override
    public OptionalLong freeBytes(MemberSpec member) {
        return read(member, "read of the free disk space", machines -> machines.freeBytes(member));
    }

    @Override
    public boolean isInUse(MemberSpec member) {
        return read(member, "check of the data directory", machines -> machines.isInUse(member));
    }

    @Override
    public Optional<DataOwner> owner(MemberSpec member) {
        return read(member, "read of the data's owner", machines -> machines.owner(member));
    }

    @Override
    public Optional<String> setAsideFailure(MemberSpec member) {
        return read(member, "check of the data directory", machines -> machines.setAsideFailure(member));
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return read(from, "check of the data", machines -> machines.moveFailure(from, to));
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        order(from, "move of the data", machines -> machines.moveData(from, to));
    }

    @Override
    public List<String> endOfLog(MemberSpec member) {
        return read(member, "read of the log", machines -> machines.endOfLog(member));
    }

    private void order(MemberSpec member, String name, Consumer<Machines> request) {
        var unused = pass(member, name, true, machines -> {
            request.accept(machines);
            return member;
        });
    }

    private <T> T read(MemberSpec member, String name, Function<Machines, T> request) {
        return pass(member, name, false, request);
    }
}
