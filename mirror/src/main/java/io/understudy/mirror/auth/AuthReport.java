package io.understudy.mirror.auth;

import io.understudy.mirror.auth.AuthRegister.Brought;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * State of the copy of roles and users.
 *
 * @param comparedAt when both sides were last compared and what differed was changed; null if they never were by this
 *     process, and the rest is unknown
 * @param sourceEnabled whether authentication is enabled at the source
 * @param targetEnabled likewise
 * @param roles that this mirror has brought to the target
 * @param users likewise
 * @param withoutPassword those of them that it has given none
 * @param rolesLeftAlone that the target has of its own, named as the source's
 * @param usersLeftAlone likewise
 * @param held why nothing is copied at present; null if it isn't held
 * @param problem why it fails at present; null if it doesn't
 */
public record AuthReport(
        @Nullable Instant comparedAt,
        boolean sourceEnabled,
        boolean targetEnabled,
        List<String> roles,
        List<String> users,
        List<String> withoutPassword,
        List<String> rolesLeftAlone,
        List<String> usersLeftAlone,
        @Nullable String held,
        @Nullable String problem) {

    static final AuthReport NOTHING =
            new AuthReport(null, false, false, List.of(), List.of(), List.of(), List.of(), List.of(), null, null);

    public AuthReport {
        roles = List.copyOf(roles);
        users = List.copyOf(users);
        withoutPassword = List.copyOf(withoutPassword);
        rolesLeftAlone = List.copyOf(rolesLeftAlone);
        usersLeftAlone = List.copyOf(usersLeftAlone);
    }

    /** Returns the report after a comparison. */
    AuthReport compared(Instant at, boolean enabledAtSource, boolean enabledAtTarget, Brought brought, AuthPlan plan) {
        return new AuthReport(
                at,
                enabledAtSource,
                enabledAtTarget,
                brought.roles().stream().sorted().toList(),
                brought.users().keySet().stream().sorted().toList(),
                brought.users().entrySet().stream()
                        .filter(user -> user.getValue().isEmpty())
                        .map(user -> user.getKey())
                        .sorted()
                        .toList(),
                plan.rolesLeftAlone().stream().sorted().toList(),
                plan.usersLeftAlone().stream().sorted().toList(),
                held,
                problem);
    }

    AuthReport held(String why) {
        return with(why, null);
    }

    AuthReport failing(String why) {
        return with(null, why);
    }

    AuthReport well() {
        return with(null, null);
    }

    /** Names that the mirror would copy if the target didn't have its own. */
    int leftAlone() {
        return rolesLeftAlone.size() + usersLeftAlone.size();
    }

    /** Returns warnings for the operator. */
    public List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (problem != null) {
            warnings.add("copying of roles and users failed: " + problem);
        }
        if (held != null) {
            warnings.add("copying of roles and users paused: " + held);
        }
        if (leftAlone() > 0) {
            warnings.add("roles and users not overwritten, since the target has its own of the same name: roles "
                    + rolesLeftAlone + ", users " + usersLeftAlone);
        }
        return warnings;
    }

    private AuthReport with(@Nullable String nowHeld, @Nullable String nowProblem) {
        return new AuthReport(
                comparedAt,
                sourceEnabled,
                targetEnabled,
                roles,
                users,
                withoutPassword,
                rolesLeftAlone,
                usersLeftAlone,
                nowHeld,
                nowProblem);
    }
}
