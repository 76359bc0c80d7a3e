package io.understudy.cluster.observe;

import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.MemberId;
import java.util.Comparator;
import java.util.List;

/** The cluster's alarms in words. */
final class Alarms {

    private Alarms() {}

    /** Returns alarms such as {@code NOSPACE of voter-1}, each once. */
    static List<String> of(List<MemberFacts> members) {
        return raised(members).stream()
                .map(alarm -> alarm.kind() + " of " + label(members, alarm.member()))
                .distinct()
                .sorted()
                .toList();
    }

    /** Alarms of member 0 are of one that etcd has not found. */
    static String label(List<MemberFacts> members, MemberId id) {
        return members.stream()
                .filter(member -> member.id().equals(id))
                .map(MemberFacts::label)
                .findFirst()
                .orElse(id.value() == 0 ? "an unknown member" : id.toString());
    }

    static List<Alarm> raised(List<MemberFacts> members) {
        return members.stream()
                .flatMap(member -> member.answer().stream()
                        .flatMap(answer -> answer.errors().stream())
                        .flatMap(error -> Alarm.of(error, member.id()).stream()))
                .distinct()
                .sorted(Comparator.comparing(Alarm::kind)
                        .thenComparing(alarm -> alarm.member().value(), Long::compareUnsigned))
                .toList();
    }
}
