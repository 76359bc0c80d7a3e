package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An alarm of a cluster, or another error that a member reports in its status. Each member reports all alarms of the
 * cluster. {@code Maintenance.Alarm} is not used: it is a Raft proposal.
 *
 * @param kind as etcd names it, such as {@code NOSPACE}; the whole text of an error that is not an alarm
 * @param member the member with the alarm; the reporting member for another error
 */
public record Alarm(String kind, MemberId member) {

    /**
     * An {@code AlarmMember} in protobuf's text format; its blanks vary between builds of etcd. Member 0, of an alarm
     * without a member, is left out.
     */
    private static final Pattern FORM = Pattern.compile("\\s*(?:memberID:\\s*(\\d{1,20})\\s+)?alarm:\\s*(\\w+)\\s*");

    /**
     * Reads one error of a status. An error that is not recognized counts as an alarm, since no healthy member has one.
     *
     * @param reporter the member that reports the error
     * @return empty if the member only has no leader, which its status shows otherwise
     */
    public static Optional<Alarm> of(String error, MemberId reporter) {
        Matcher form = FORM.matcher(error);
        if (form.matches()) {
            String member = form.group(1);
            return Optional.of(
                    new Alarm(form.group(2), new MemberId(member == null ? 0 : Long.parseUnsignedLong(member))));
        }
        return EtcdErrors.error(error) == EtcdError.NO_LEADER
                ? Optional.empty()
                : Optional.of(new Alarm(error.strip(), reporter));
    }
}
