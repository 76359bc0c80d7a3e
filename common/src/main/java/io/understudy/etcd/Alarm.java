package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An alarm of a cluster. It is read off what members say of themselves by their status: each tells all alarms that it knows of. To
 * ask for them by {@code Maintenance.Alarm} is a write in etcd's log.
 *
 * @param kind as etcd calls it, such as {@code NOSPACE}
 * @param member whose it is
 */
public record Alarm(String kind, MemberId member) {

    /** An {@code AlarmMember} as Go prints it. */
    private static final Pattern FORM = Pattern.compile("memberID:(\\d{1,20}) alarm:(\\w+)\\s*");

    /** What a member tells among its errors; empty if that is something else. */
    public static Optional<Alarm> of(String error) {
        Matcher told = FORM.matcher(error);
        return told.matches()
                ? Optional.of(new Alarm(told.group(2), new MemberId(Long.parseUnsignedLong(told.group(1)))))
                : Optional.empty();
    }
}
