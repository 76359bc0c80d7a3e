package io.understudy.cluster.observe;

import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the cluster's alarms off what members say of themselves: each tells all alarms that it knows of. Asking for them
 * by {@code Maintenance.Alarm} is a write in etcd's log.
 */
final class Alarms {

    /** An {@code AlarmMember} as Go prints it. */
    private static final Pattern FORM = Pattern.compile("memberID:(\\d{1,20}) alarm:(\\w+)\\s*");

    private Alarms() {}

    /** Such as {@code NOSPACE of voter-1}, each once. */
    static List<String> of(List<MemberFacts> members) {
        Function<MemberId, String> label = id -> members.stream()
                .filter(member -> member.id().equals(id))
                .map(MemberFacts::label)
                .findFirst()
                .orElse(id.toString());
        return members.stream()
                .flatMap(member -> member.answer().stream())
                .flatMap(answer -> answer.errors().stream())
                .map(FORM::matcher)
                .filter(Matcher::matches)
                .map(Matcher::toMatchResult)
                .map(alarm -> told(alarm, label))
                .distinct()
                .sorted()
                .toList();
    }

    private static String told(MatchResult alarm, Function<MemberId, String> label) {
        return alarm.group(2) + " of " + label.apply(new MemberId(Long.parseUnsignedLong(alarm.group(1))));
    }
}
