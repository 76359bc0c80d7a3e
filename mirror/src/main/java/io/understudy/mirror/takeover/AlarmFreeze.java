package io.understudy.mirror.takeover;

import io.etcd.jetcd.api.AlarmMember;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmResponse;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.MaintenanceGrpc;

/**
 * Freezes by a NOSPACE alarm. It is raised through the log, so that every put that comes after it there is refused by all
 * members, in flight or not; it outlives restarts.
 */
record AlarmFreeze(PatientCalls source) implements Freeze {

    @Override
    public String does() {
        return "raises a NOSPACE alarm at " + source.shown()
                + ": puts and lease grants are refused, for all keys; deletes and expiries continue";
    }

    @Override
    public String needs() {
        return "no such alarm there before; with authentication, the role root";
    }

    @Override
    public String undone() {
        return "disarms the alarm";
    }

    @Override
    public Journal prepare(Journal journal) {
        if (journal.alarmMember() != 0) {
            return journal;
        }
        AlarmResponse alarms = alarm(AlarmAction.GET, 0);
        if (isAmong(alarms)) {
            throw new TakeOverException(
                    source.shown() + " has a NOSPACE alarm already, which isn't of this hand-over: "
                            + "it is out of space, or frozen by another client. Free space and disarm it, or use --freeze auth");
        }
        return journal.edit().alarmMember(alarms.getHeader().getMemberId()).build();
    }

    @Override
    public void raise(Journal journal) {
        var unused = alarm(AlarmAction.ACTIVATE, journal.alarmMember());
    }

    @Override
    public boolean isRaised(Journal journal) {
        return journal.alarmMember() != 0
                && alarm(AlarmAction.GET, 0).getAlarmsList().contains(ours(journal));
    }

    /** Whether there is one, whoever has raised it. */
    boolean isFound() {
        return isAmong(alarm(AlarmAction.GET, 0));
    }

    private static boolean isAmong(AlarmResponse alarms) {
        return alarms.getAlarmsList().stream().anyMatch(each -> each.getAlarm() == AlarmType.NOSPACE);
    }

    @Override
    public void lift(Journal journal) {
        if (isRaised(journal)) {
            var unused = alarm(AlarmAction.DEACTIVATE, journal.alarmMember());
        }
    }

    private static AlarmMember ours(Journal journal) {
        return AlarmMember.newBuilder()
                .setMemberID(journal.alarmMember())
                .setAlarm(AlarmType.NOSPACE)
                .build();
    }

    private AlarmResponse alarm(AlarmAction action, long member) {
        AlarmRequest request = AlarmRequest.newBuilder()
                .setAction(action)
                .setMemberID(member)
                .setAlarm(AlarmType.NOSPACE)
                .build();
        return source.call("an alarm", MaintenanceGrpc::newBlockingStub, stub -> stub.alarm(request));
    }
}
