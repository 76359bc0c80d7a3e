package io.understudy.cluster.machine;

import java.util.List;
import java.util.Optional;

/** Machines on which nothing can be started or stopped. */
public class NoMachines implements Machines {

    @Override
    public List<MemberSpec> places() {
        return List.of();
    }

    @Override
    public void found(MemberSpec member, String initialCluster, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void start(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void stop(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void retire(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void copyData(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return Optional.of(false);
    }
}
