"""Every word of the interface in English, by name; study.toml may replace any of them under [texts].

Other languages: `language`.
"""

from __future__ import annotations

from collections.abc import Mapping

from relstudy.studyapp.config.outcomes import OUTCOMES

ENGLISH: dict[str, str] = {
    "page.skip": "Skip to the content",
    "page.language": "Language",
    "consent.heading": "Taking part",
    "consent.default": (
        "You are asked for your opinion of what each page shows. Taking part is voluntary and you can stop at any "
        "time. Your ratings are stored under a code, without your name or network address, for research."
    ),
    "consent.minutes": "It takes about {minutes} min.",
    "consent.pages": "There are {pages} pages.",
    "consent.stored.platform": (
        "What your platform sends with you ({names}) is stored with them, so that you are one person here and can be "
        "paid."
    ),
    "consent.stored.personal": (
        "Your personal link is stored as a code that does not give it away, to keep your answers together."
    ),
    "consent.stored.cookie": "A cookie in this browser remembers which ratings are yours.",
    "consent.stored.times": "We also store the times of your visits and answers.",
    "consent.stored.screening": (
        "A few questions come first that decide whether you can take part; your answers are stored if you can, and not "
        "kept if you cannot."
    ),
    "consent.stored.questions": "Your answers to the questions at the end are stored, too.",
    "consent.stored.withdrawal.delete": (
        "You can withdraw at any time by the link at the foot of the pages; then everything stored of you is deleted."
    ),
    "consent.stored.withdrawal.keep": (
        "You can withdraw at any time by the link at the foot of the pages; then your ratings are marked as withdrawn "
        "and left out."
    ),
    "consent.stored.until": "Your identifying data are deleted on {date}; the ratings stay.",
    "consent.changed": "The text was changed while you read it. Please read it as it is now.",
    "consent.agree": "I agree to take part",
    "consent.continue": "Continue",
    "consent.decline": "I do not want to take part",
    "ended.platform": "Please go back to the page of the platform that you came from, and end the task there.",
    "screening.heading": "Before you start",
    "screening.kept": (
        "Your answers decide whether you can take part. They are stored with your ratings if you can, and not kept if "
        "you cannot."
    ),
    "screening.send": "Continue",
    "withdraw.link": "Withdraw from the study",
    "withdraw.heading": "Withdraw from the study",
    "withdraw.text.keep": (
        "You get nothing more to rate. Your ratings so far stay stored under a code; they are marked as withdrawn and "
        "left out of the results. This cannot be undone."
    ),
    "withdraw.text.delete": (
        "Your ratings, your answers and everything else that is stored of you are deleted, and cannot be brought back. "
        "Copies that the researchers took before are not reached from here."
    ),
    "withdraw.text.by_id": (
        "You get nothing more to rate. You began in another browser: what you gave there is marked as withdrawn. To "
        "have it deleted, withdraw in that browser instead, or write to the people who run the study."
    ),
    "withdraw.sure": "I am sure",
    "withdraw.do": "Withdraw",
    "withdraw.stay": "Stay in the study",
    "withdrew.deleted": "Everything that was stored of you is deleted. Thank you for your time.",
    "withdrew.readable": (
        "Everything that was stored of you is deleted. Programs of the researchers that are reading the database just "
        "now can read it until they end; the study's server sees to the rest by itself. Thank you for your time."
    ),
    "withdrew.to-delete": (
        "This is noted for good. The study's database cannot be changed just now: as soon as it can, the server "
        "deletes everything that is stored of you, without being asked again. Thank you for your time."
    ),
    "withdrew.to-mark": (
        "This is noted for good. The study's database cannot be changed just now: as soon as it can, the server "
        "marks what you gave as withdrawn, without being asked again. Thank you for your time."
    ),
    "passphrase.label": "Passphrase",
    "passphrase.wrong": "That is not the passphrase.",
    "passphrase.often": (
        "Many wrong passphrases were just tried at your internet address, so yours was not looked at. Please send it "
        "again in a few seconds."
    ),
    "instructions.heading": "What to do",
    "instructions.default": (
        "Answer the question on each page for every result. Many results may fit poorly: that is intended. Your own "
        'judgment counts. Choose "undecided" if you cannot tell, and do not spend too long on any one.'
    ),
    "instructions.default.which": (
        "Each page shows two results of one query. Answer the question by choosing one of them, or say that both are "
        'equal. Your own judgment counts. Choose "undecided" if you cannot tell, and do not spend too long on any one.'
    ),
    "instructions.default.which-list": (
        "Each page shows two lists of results of one query. Answer the question for each list as a whole, or say that "
        'both are equal. Your own judgment counts. Choose "undecided" if you cannot tell, and do not spend too long on '
        "any one."
    ),
    "instructions.start": "Start",
    "instructions.scale": "The scale",
    "instructions.keys": (
        "You can do everything with the keyboard: press a digit to answer, U for undecided, the arrow keys to "
        "move, Enter to go on and Backspace to go back."
    ),
    "instructions.practice": "A few practice pages come first. They show how we would have answered, and do not count.",
    "instructions.qualify": (
        "Practice comes first: after each page you see the answers that were expected. To go on you need {needed} of "
        "{total} as expected. Attempts: {attempts}."
    ),
    "again.heading": "The practice once more",
    "again.text": ("As expected: {right} of {total}. Needed to go on: {needed}. You can do the practice once more."),
    "again.left": "Attempts left: {attempts}.",
    "again.begin": "Begin again",
    "rate.query": "Query",
    "rate.result": "Result {number}",
    "rate.only": "Result",
    "rate.legend": "Result {number}: {question}",
    "rate.enlarge": "(enlarge)",
    "rate.undecided": "undecided",
    "rate.next": "Next",
    "rate.save": "Save the change",
    "rate.back": "Back",
    "rate.continue": "Continue where you were",
    "rate.progress": "Page {page} of {pages}",
    "rate.left": "about {minutes} min left",
    "rate.done": "{answered} of {pages} pages answered",
    "rate.practice": "Practice",
    "rate.examples": "Examples for each grade",
    "rate.missing": "Please rate every result, or choose undecided.",
    "rate.changed": (
        "The study was changed while you were on this page, and your answers to the page as it was were not saved. "
        "Please rate it as it is now."
    ),
    "rate.unanswered": "Please answer every question, or choose undecided.",
    "rate.unplayed": "Please play every sound and film to its end first.",
    "item.whole": "{what}: the whole text",
    "item.intent": "What is looked for",
    "item.transcript": "Transcript",
    "item.captions": "Captions",
    "item.of_list": "{what}, place {number}",
    "rate.long": "At most {most} signs are allowed.",
    "rate.not_shown": "could not be shown",
    "rate.further": "Result {number}: {question}",
    "rate.optional": "(optional)",
    "rate.number": "A number from {low} to {high}",
    "rate.unset": "nothing chosen yet",
    "rate.invalid": "This is not a value of the scale.",
    "rate.close": "Close",
    "which.left": "the left one",
    "which.equal": "equally well",
    "which.right": "the right one",
    "which.left.tag": "Left",
    "which.right.tag": "Right",
    "scale.poor match": "poor match",
    "scale.average match": "average match",
    "scale.good match": "good match",
    "scale.no": "no",
    "scale.yes": "yes",
    "keys.rate": "rate",
    "keys.slide": "slide",
    "keys.move": "move",
    "keys.next": "go on",
    "keys.back": "go back",
    "keys.on": "single keys on",
    "practice.heading": "Practice: how it went",
    "practice.right": "Your answer is one of those expected.",
    "practice.other": "We would have answered differently:",
    "practice.given": "Your answer",
    "practice.expected": "Expected",
    "practice.continue": "Go on",
    "questions.heading": "A few questions at the end",
    "questions.optional": "(optional)",
    "questions.required": "Please answer this question.",
    "questions.number": "Please enter a number.",
    "questions.choice": "Please choose one of the answers.",
    "questions.send": "Finish",
    "thanks.heading": "Thank you",
    "thanks.default": "Your ratings are saved.",
    "thanks.code": "Your completion code",
    "thanks.copy": "Copy",
    "thanks.copied": "Copied",
    "thanks.return": "Finish and return",
    "thanks.more": "Rate some more",
    "thanks.leave": "Sign out on this device, so that the next person can start",
    "thanks.nocode": (
        "A completion code goes with ratings: you have rated nothing, or were undecided about more of the results than "
        "this study allows. If you rate some more, the code may still come."
    ),
    "thanks.failed": (
        "This study gives a completion code to those who answer its attention checks, results whose right answer is "
        "known, and you answered more of them otherwise than it allows."
    ),
    "switch.heading": "Another person's link",
    "switch.text": (
        "Somebody else is taking part in this browser, and the link you opened is not theirs. Their ratings are saved."
    ),
    "switch.stay": "Go on as before",
    "switch.go": "Go on with this link",
    "wait.heading": "One moment",
    "wait.text": (
        "Nothing is left to rate right now; more may come back in a few minutes. Look again, or finish now; your "
        "ratings are saved."
    ),
    "wait.again": "Look again",
    "wait.finish": "Finish now",
    "thanks.none": "There is nothing more to rate at the moment.",
    "refused.heading": "Not saved yet",
    "refused.kept": "Your answers are kept on this page.",
    "refused.again": "Try again",
    "refused.offline": "The study cannot be reached. Please check your connection; do not close this page.",
    "refused.waiting": "Trying again in {seconds} seconds.",
    "refused.locked": "You have finished; these ratings can no longer be changed.",
    "refused.closed": "The study has been closed; these ratings were not saved.",
    "refused.ended": "You are no longer in the study; these ratings were not saved.",
    "refused.broken": "The study's database did not answer. Please try again in a moment.",
    "refused.busy": "The study's database is busy. Please wait a moment and try again.",
    "refused.damaged": "A file of the study is damaged. Please tell the people who run the study, then try again.",
    "refused.full": "The study's disk is full or failing. Please tell the people who run the study, then try again.",
    "refused.session": (
        "Your session has ended. Open your link to the study again in another tab, then come back to this page and "
        "try again."
    ),
    "refused.form": "This form does not belong to this page of yours. Go back to the study and rate the page there.",
    "password.heading": "Researcher's pages",
    "password.label": "Password",
    "password.new": "Choose a password (at least {count} characters)",
    "password.name": "Name",
    "password.first": "Leave this empty for the study's first password.",
    "password.account": "For the account {name}.",
    "password.enter": "Continue",
    "password.wrong": "That is not the password.",
    "password.short": "Please choose at least {count} characters.",
    "sso.enter": "Sign on with {name}",
    "sso.provider.name": "your institution",
    "sso.or": "Or with a password",
    "sso.refused": "This address may not look at this study. Please ask its owner.",
    "sso.denied": "You were not signed on there.",
    "sso.failed": "The sign-on is not valid, or took too long. Please begin again.",
    "sso.away": "The sign-on service does not answer. Please try again in a moment.",
    "sso.provider": "The sign-on service is not the one that this study is set up for. Please tell its owner.",
    "sso.again": "Begin again",
    "sso.left": "You are logged out of this study",
    "sso.still": "You are still signed on at your institution: on a computer that others use, log out there too.",
    "sso.leave": "Log out there too",
    "error.heading": "That did not work",
    "error.link": "This link is not valid. Please check that it was copied whole.",
    "error.invited": "This study is open by personal link only. Please use the link you were sent.",
    "error.parameter": "The link lacks the parameter {name}. Please start from the platform's page again.",
    "error.often": "Too many attempts. Please wait a few minutes and try again.",
    "error.other": "Something went wrong on our side. Please try again in a moment.",
    "admin.making": "The figures are being worked out",
    "admin.making.wait": "With this many ratings, it takes a while. This page shows them as soon as they are there.",
    "error.making": "Another large table is being made at the moment. Please try again in a minute.",
    "error.sending": "Two tables are on their way to you already. Please try again when one of them has arrived.",
    "error.sending.all": "Too many tables are on their way at the moment. Please try again in a minute.",
    "error.missing": "Page not found. Please check the address.",
    "error.large": "What was sent is too large.",
    "error.role": "Your account may look at this study, and not do this.",
    "error.home": "To the study",
    "contact": "Questions? {contact}",
    "admin.title": "Researcher's pages",
    "preview.label": "Preview",
    "preview.note": "Nothing is assigned, and nothing is stored.",
    "preview.heading": "Preview of the study",
    "preview.text": (
        "Every page as a rater would meet it, in this order. What you type and send is not read; each form leads to "
        "the next page."
    ),
    "preview.place": "{number} of {pages}: {page}",
    "preview.before": "Previous page",
    "preview.next": "Next page",
    "preview.all": "All pages",
    "preview.leave": "Back to the researcher's pages",
    "preview.practice": "Practice {number}",
    "preview.told": "Practice {number}: how it went",
    "preview.again": "Practice not passed: another attempt",
    "preview.block": "Block {block}",
    "preview.check": "Block {block}: an attention check",
    "preview.wait": "What is left is with others",
    "preview.completed": "The end: completed",
    "admin.bar.study": "Set up",
    "admin.bar.raters": "Raters",
    "admin.bar.progress": "Progress",
    "admin.bar.results": "Results",
    "admin.bar.log": "Log",
    "admin.study.question": "Question",
    "admin.study.results": "Results a page",
    "admin.study.ratings": "Ratings",
    "admin.study.each": "{ratings} a pair",
    "admin.study.everyone": "of everyone",
    "admin.study.ways": "How raters get in",
    "admin.study.change": "To change the study, edit study.toml and run the command below. Raters go on while it runs.",
    "admin.way.personal": "By a personal link, from the page Invite",
    "admin.way.open": "By the address alone",
    "admin.way.passphrase": "By a passphrase",
    "admin.way.prolific": "From Prolific",
    "admin.way.crowd": "From another platform",
    "admin.tab.study": "Set up",
    "admin.tab.overview": "Overview",
    "admin.tab.raters": "Raters",
    "admin.tab.handout": "Assignment",
    "admin.tab.invite": "Invite",
    "admin.tab.export": "Export",
    "admin.tab.log": "Log",
    "admin.log.note": "The audit log of these pages and commands: the last {most} entries, times in UTC.",
    "admin.log.who": "Who",
    "admin.log.did": "Did",
    "admin.log.about": "About",
    "admin.you": "{name} ({role})",
    "admin.role.viewer": "viewer",
    "admin.role.editor": "editor",
    "admin.role.owner": "owner",
    "admin.leave": "Log out",
    "admin.further": "Set up another study",
    "admin.live": "Keep up to date",
    "admin.command": "On the command line",
    "admin.groups": "Groups",
    "admin.group": "Group",
    "admin.group.finished": "Finished",
    "admin.group.active": "At work",
    "admin.group.failed": "Failed checks",
    "admin.group.quota": "Quota",
    "admin.limit.raters": "{now} of {most} raters wanted have finished or are at work.",
    "admin.limit.ratings": "{now} of {most} ratings wanted are there.",
    "admin.limit.deadline": "Deadline: {most} (UTC).",
    "admin.limit.failed": "Besides these, {count} failed the attention checks and hold no place.",
    "admin.limit.reached": "It is reached: nobody new is admitted.",
    "admin.tab.answer": "Answer",
    "admin.answer.none": (
        "No answer has been computed yet. It says which system the ratings so far speak for, and whether you can stop."
    ),
    "admin.answer.at": "Computed on {at} (UTC) from {ratings} ratings.",
    "admin.answer.look": "Look {number} of {planned}: {share} % of the answers wanted are in.",
    "admin.answer.left": "{answers} answers remain until the planned end.",
    "admin.answer.hours": ("{answers} answers remain until the planned end: about {hours} hours of raters' time."),
    "admin.answer.compute": "Compute the answer now",
    "admin.answer.counts": "With new ratings it counts as a look.",
    "admin.answer.computing": "The answer is being computed. This page shows it when it is there.",
    "admin.answer.page": "The first screen of the report",
    "admin.answer.download": "Download the results",
    "admin.answer.holds": "The whole report with its tables, and the judgments, as a zip file.",
    "admin.answer.width": "How sure the answer is",
    "admin.answer.width.note": (
        "Half the width of the interval of the difference between the first two systems, at each answer."
    ),
    "admin.figures": "The figures",
    "admin.state.open": "open",
    "admin.state.paused": "paused",
    "admin.state.closed": "closed",
    "admin.pause": "Pause",
    "admin.close": "Close",
    "admin.reopen": "Reopen",
    "admin.pause.sure": "Pause the study? Nothing is assigned until you reopen it; ratings under way are kept.",
    "admin.close.sure": "Close the study? Nobody can rate until you reopen it.",
    "admin.ratings": "Ratings",
    "admin.undecided": "undecided",
    "admin.raters": "Raters",
    "admin.raters.detail": "{consented} consented, {finished} finished",
    "admin.raters.no_place": "{count} found no place",
    "admin.block": "Block",
    "admin.blocks": "Blocks",
    "admin.scale": "Scale",
    "admin.pairs": "Pairs",
    "admin.progress": "Progress",
    "admin.pages": "{done} of {wanted} pages",
    "admin.inhand": "Assigned",
    "admin.surplus": "Surplus",
    "admin.time": "Time (UTC)",
    "admin.growth": "Ratings over time",
    "admin.lines.more": "and {count} more, in the table below",
    "admin.seconds": "Time per rating",
    "admin.seconds.unit": "Seconds",
    "admin.seconds.note": "Seconds for each rating; the last bar is open.",
    "admin.seconds.median": "Median seconds",
    "admin.uniformity": "Uniformity error",
    "admin.agreement": "Agreement as it grows",
    "admin.agreement.note": "Krippendorff's alpha (ordinal) of the base block, over the number of ratings.",
    "admin.agreement.none": (
        "No agreement yet: two raters must have rated the same pairs of the base block, and not all of them equally."
    ),
    "admin.gain": "Where people add most",
    "admin.gain.note": (
        "Round {round} asks {pairs} more pairs where the grades of judge {judge} leave most open for {aim}, each with "
        "known probability. Widths of 95 % intervals with the judge's help, to be expected:"
    ),
    "admin.gain.system": "System",
    "admin.gain.now": "before the round",
    "admin.gain.before": "with as many drawn as before",
    "admin.gain.aimed": "with this round",
    "admin.sources": "Use of the scale",
    "admin.sources.note": (
        "Share of each value among the decided ratings, by the source that proposed the pair. Dashed: every "
        "value used equally often. The uniformity error is the mean distance from it (0 is even)."
    ),
    "admin.sources.all": "all pairs",
    "admin.sources.chart": "Use of the scale {scale}: {source}",
    "admin.sources.error": "error {error}, {ratings} ratings",
    "admin.sources.scale": "Scale {scale}",
    "admin.rated": "{done} of {wanted} pages of unique pairs are rated.",
    "admin.rated.all": "All {wanted} pages of unique pairs are rated: you can close the study and export.",
    "admin.empty": "Nothing has been rated yet.",
    "admin.rater": "Rater",
    "admin.rater.state": "State",
    "admin.rater.invited": "invited",
    "admin.rater.consented": "consented",
    "admin.rater.no_place": "found no place",
    "admin.rater.rating": "rating",
    "admin.rater.finished": "finished",
    "admin.rater.pages": "Pages",
    "admin.rater.last": "Last rating (UTC)",
    "admin.rater.agreement": "Agreement",
    "admin.rater.checks": "Checks",
    "admin.rater.flags": "Flags",
    "admin.rater.note": (
        "Agreement is the correlation with the mean of the others' ratings of the same pairs. A flag is a "
        "reason to look, not to drop anyone."
    ),
    "admin.rater.forget": "Erase",
    "admin.left": "Traces of erased raters",
    "admin.left.note": "They can still be read, or may be, in these places:",
    "admin.left.unfinished": (
        "In the database's own files, until every program that reads the database now (an export, a backup, a "
        "database browser) has ended. The server tries to finish every ten seconds, and at each start."
    ),
    "admin.left.rows": "In the database: {count}.",
    "admin.left.people": "{file}: {count} of them, until you delete the file or make it again.",
    "admin.left.id": "{file}: the id that a platform gave one of them, until you delete the file or make it again.",
    "admin.left.closed": "{file} cannot be looked into ({reason}).",
    "admin.left.looking": "The files of the study's folder are still to be searched; the server does so in seconds.",
    "admin.left.none": "Nothing of them is left in the database, or in the files of the study's folder.",
    "admin.spark": "Ratings of {rater} over time",
    "admin.flag.checks": "attention checks failed: {failed}",
    "admin.flag.BT.500": "far from the others on both sides (ITU-R BT.500)",
    "admin.flag.constant": "always the same rating",
    "admin.flag.reversed": "rates opposite to the others",
    "admin.flag.disagrees": "no sign of agreement",
    "admin.flag.agrees-less": "agrees less than the others do",
    "admin.flag.too-fast": "much faster than the others",
    "admin.flag.base-block-incomplete": "base block incomplete",
    "admin.flag.too-few-base-ratings": "too few base ratings",
    "admin.flag.no-base-ratings": "no base ratings",
    "admin.flag.constant-on-base": "same rating on every base pair",
    "admin.flag.often-undecided": "often undecided",
    "admin.newer": "Previous",
    "admin.older": "Next",
    "admin.range": "Page {number} of {pages}",
    "admin.leases": "Pages in raters' hands",
    "admin.leases.note": (
        "A page of unique pairs is kept for a rater for {minutes} minutes; then it goes to the next. A late "
        "answer is kept, too."
    ),
    "admin.leases.none": "No page is in anyone's hands.",
    "admin.lease.handed": "Assigned (UTC)",
    "admin.lease.until": "Kept until (UTC)",
    "admin.lease.expired": "expired",
    "admin.lease.active": "active",
    "admin.open": "Unassigned",
    "admin.done": "Done",
    "admin.invite.personal": "Personal links",
    "admin.invite.note": ("Give each person a link of their own. Links are shown once, so copy them."),
    "admin.invite.only_here": (
        "These links begin with {address} and open on this computer only. To let other people in, serve the study at "
        "an address that they can reach (--host 0.0.0.0), and open this page by that address."
    ),
    "admin.nobody": "Nobody has rated yet. Send people their links:",
    "admin.invite.how": "How many",
    "admin.invite.group": "Group",
    "admin.invite.any": "chosen when they start",
    "admin.invite.make": "Make links",
    "admin.invite.count": "Choose a number from 1 to {most}.",
    "admin.invite.made": "{count} new links. Copy them now; they cannot be shown again.",
    "admin.invite.again": "This form was sent twice. These are the links that it made; no others were made.",
    "admin.invite.copy": "Copy all",
    "admin.invite.off": "This study does not admit people by personal link.",
    "admin.invite.code": "Completion code",
    "admin.invite.link": "Link",
    "admin.invite.crowd": "Link for the crowd platform",
    "admin.invite.open": "Open to everyone with this address",
    "admin.export.question": "Question",
    "admin.export.own": "the blocks' own",
    "admin.export.ratings": "Ratings",
    "admin.export.note": (
        "One row for each rating that counts; undecided is empty. Attention checks, repeated pairs and "
        "practice are listed under their own blocks."
    ),
    "admin.export.history": "Every revision, not only the last",
    "admin.export.surplus": "Without surplus ratings",
    "admin.export.all": "all scales",
    "admin.export.download": "Download CSV",
    "admin.export.people": "Raters",
    "admin.export.people.note": "One row for each rater: way in, times, completion code, answers at the end.",
    "admin.export.backup": "Backup",
    "admin.export.backup.note": "A copy of the live database, made on the machine that serves the study:",
    "admin.rater.aside": "Exclude",
    "admin.rater.back": "Include again",
    "admin.aside.heading": "Exclude {rater}?",
    "admin.aside.text": (
        "Their {ratings} ratings stay and are marked in the export; calibration leaves them out. Their unique pairs go "
        "to others. If they are at work, their part ends. You can include them again."
    ),
    "admin.aside.do": "Exclude",
    "admin.aside.keep": "Leave as it is",
    "admin.back.heading": "Include {rater} again?",
    "admin.back.text": (
        "Their {ratings} ratings count again; those for pages that others have rated meanwhile are marked as surplus."
    ),
    "admin.back.do": "Include again",
    "admin.back.keep": "Leave as it is",
    "admin.forget.heading": "Erase {rater}",
    "admin.forget.text": (
        "This removes the rater and {ratings} ratings from the database for good. Their unique pairs go back "
        "to the pool. Delete this rater from earlier exports and backups yourself."
    ),
    "admin.forget.do": "Remove for good",
    "admin.forget.keep": "Keep",
} | {name: text for outcome in OUTCOMES.values() for name, text in outcome.texts().items()}


class Texts:
    """The interface's texts, with a study's replacements.

    Examples
    --------
    >>> text = Texts({"rate.next": "Weiter"})
    >>> text("rate.next"), text("rate.progress", page=2, pages=9)
    ('Weiter', 'Page 2 of 9')
    """

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        self.texts = {**ENGLISH, **(overrides or {})}

    def __call__(self, key: str, **values: object) -> str:
        text = self.texts[key]
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text
