package io.understudy.lab;

import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** A cluster that takes no puts, as if it were full, until this is lifted. */
public record NoSpaceAlarm(URI voter, long member) {

    public static NoSpaceAlarm raise(URI voter) {
        long member = alarm(voter, AlarmAction.GET, 0).getHeader().getMemberId();
        var unused = alarm(voter, AlarmAction.ACTIVATE, member);
        return new NoSpaceAlarm(voter, member);
    }

    public void lift() {
        var unused = alarm(voter, AlarmAction.DEACTIVATE, member);
    }

    private static AlarmResponse alarm(URI voter, AlarmAction action, long member) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(voter.getHost(), voter.getPort())
                .usePlaintext()
                .build();
        try {
            return MaintenanceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .alarm(AlarmRequest.newBuilder()
                            .setAction(action)
                            .setMemberID(member)
                            .setAlarm(AlarmType.NOSPACE)
                            .build());
        } finally {
            channel.shutdownNow();
        }
    }
}
