// SPDX-License-Identifier: Apache-2.0
#pragma once
// The causes of the table's faults, and the further checks.
#include <csignal>

#include "tests/end_to_end/faults.h"

namespace icepath::end_to_end {

template <int number> void signal_it(Scene &scene) { scene.icepath->signal(number); }
inline void signal_child(const Scene &scene, const char *name, int number) { kill_process(scene.child(name), number); }

// Causes.
void kill_sender(Scene &scene);
void stop_receiver(Scene &scene);
void stop_daemon(Scene &scene);
void move_sender(Scene &scene); // allows it all CPUs
void kill_daemons(Scene &scene);
void kill_keeper(Scene &scene);
void kill_keeper_at_the_end(Scene &scene);
void stop_keeper(Scene &scene);
void kill_with_keeper(Scene &scene); // icepath, after its keeper
void kill_tuned(Scene &scene); // while net.core.rmem_max is raised to 1000 MiB
void change_a_setting(Scene &scene); // that --isolate full has changed
void interrupt_in_haste(Scene &scene); // twice
void interrupt_again(Scene &scene); // after more than a second
void kill_everybody(Scene &scene);
// Before icepath starts.
void start_another(Scene &scene); // run, on the same CPUs
void start_another_isolated(Scene &scene); // run, on another CPU
void remember_the_setting(Scene &scene);
void close_folder(Scene &scene); // to all but root
// Afterwards.
void expect_the_others_pid(Scene &scene, const Outcome &outcome); // was reported; ends that process
void restore_by_doctor(Scene &scene, const Outcome &outcome);
void restore_by_next_run(Scene &scene, const Outcome &outcome);
void expect_the_setting_is_left(Scene &scene, const Outcome &outcome); // and resets it
void expect_the_others_went_on(Scene &scene, const Outcome &outcome); // cells
void expect_both_daemons_told(Scene &scene, const Outcome &outcome); // and that the others went on
void expect_probed_blocks_of_before(Scene &scene, const Outcome &outcome);
void expect_no_word_of_the_helper(Scene &scene, const Outcome &outcome);

} // namespace icepath::end_to_end
